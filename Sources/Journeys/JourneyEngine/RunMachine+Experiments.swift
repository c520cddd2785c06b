internal import Crypto
internal import JSON
internal import JourneyModel
internal import WorkflowDefinitions

// Splits (S14): the lot falls by the customer's id, once and for ever.
extension RunMachine {
    mutating func enter(_ step: ExperimentStep, id: StepID) {
        let name = step.experiment.text
        guard let experiment = definition.experiments[step.experiment] else {
            end(.failed(error: "experiment_missing"), because: ["experiment": .string(name)])
            return
        }
        let answer = evaluate {
            $0.ask(["assignment": .string(name)]) { facts in
                facts.assignments[name].map { ["variant": .string($0)] } ?? .absentMark
            }
        }
        let known = answer?["variant"]?.string
        let bucket = Self.bucket(experiment: step.experiment, customer: run.customer)
        let chosen = known ?? experiment.variant(of: bucket)?.id
        guard let chosen, let variant = experiment.variants.first(where: { $0.id == chosen }),
            let way = step.variants.first(where: { $0.id == chosen })
        else {
            end(
                .failed(error: "missing_variant"),
                because: [
                    "experiment": .string(name), "variant": chosen.map { .string($0) } ?? .null,
                ])
            return
        }
        if known == nil {
            facts.assignments[name] = chosen
            facts.recorded?.learn(["assignment": .string(name)], ["variant": .string(chosen)])
            tell { $0.assignments.append(Assignment(experiment: name, variant: chosen)) }
        }
        expose(variant, of: name, at: id)
        move(
            from: id, outlet: chosen, to: way.next,
            with: JSONObject([
                ("experiment", .string(name)), ("bucket", .string(String(bucket))),
                ("variant", .string(chosen)), ("assigned", .bool(known == nil)),
            ]))
    }

    private mutating func expose(
        _ variant: ExperimentDefinition.Variant, of experiment: String, at step: StepID
    ) {
        guard !run.exposed.contains(experiment) else { return }
        run.exposed.append(experiment)
        let exposure = Exposure(
            experiment: experiment, variant: variant.id, isHoldout: variant.isHoldout, at: now)
        tell { $0.exposures.append(exposure) }
        record(
            .exposed,
            JSONObject([
                ("step", .string(step.text)), ("experiment", .string(experiment)),
                ("variant", .string(variant.id)), ("holdout", .bool(variant.isHoldout)),
            ]))
    }

    /// The first eight bytes of SHA-256(`experiment:customer`), big-endian.
    static func bucket(experiment: ExperimentID, customer: CustomerID) -> UInt64 {
        SHA256.digest(Array("\(experiment):\(customer)".utf8)).prefix(8)
            .reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension ExperimentDefinition {
    /// The first variant in file order whose cumulative weight is above (bucket × 100) ≫ 64.
    func variant(of bucket: UInt64) -> Variant? {
        let percent = Int(bucket.multipliedFullWidth(by: 100).high)
        var cumulative = 0
        return variants.first { variant in
            cumulative += variant.weight
            return percent < cumulative
        }
    }
}
