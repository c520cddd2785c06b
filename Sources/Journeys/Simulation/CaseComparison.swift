internal import JourneyModel
internal import TimeZones

/// Finds where a simulation left the case's expectations.
struct CaseComparison {
    /// More differences are only counted: the first ones tell what went wrong.
    static let mostDifferences = 50

    let simulated: SimulationCase
    let report: SimulationReport

    func differences() -> [String] {
        var all = transitionDifferences() + endDifferences()
        let left = all.count - Self.mostDifferences
        if left > 0 {
            all.removeLast(left)
            all.append("and \(left) more differences")
        }
        return all
    }

    private func transitionDifferences() -> [String] {
        guard let expected = simulated.expectations else { return [] }
        let actual = report.transitions
        return (0..<max(expected.count, actual.count)).compactMap { index in
            let place = "transition \(index + 1)"
            guard index < actual.count else {
                return "\(place): expected \(words(expected[index])), but nothing more happened"
            }
            guard index < expected.count else {
                return "\(place): \(words(actual[index])) was not expected"
            }
            guard !matches(expected[index], actual[index]) else { return nil }
            return "\(place): expected \(words(expected[index])), got \(words(actual[index]))"
        }
    }

    private func matches(
        _ expected: SimulationCase.Expectation, _ actual: SimulationReport.Transition
    ) -> Bool {
        expected.at == actual.at && expected.step == actual.step && expected.type == actual.type
            && (expected.outlet == nil || expected.outlet == actual.outlet)
            && (expected.effect == nil || expected.effect == actual.effect)
    }

    private func endDifferences() -> [String] {
        guard let expected = simulated.ending else { return [] }
        guard let actual = report.ends.last else {
            return ["ends: expected \(expected.status), but no run entered"]
        }
        var found: [String] = []
        if expected.status != actual.status {
            let reason = actual.reason.map { " (\($0))" } ?? ""
            found.append("ends: expected status \(expected.status), got \(actual.status)\(reason)")
        } else if let reason = expected.reason, reason != actual.reason {
            found.append("ends: expected reason \(reason), got \(actual.reason ?? "none")")
        }
        if let converted = expected.converted, converted != actual.converted {
            found.append("ends: expected converted \(converted), got \(actual.converted)")
        }
        return found
    }

    private func words(_ transition: SimulationCase.Expectation) -> String {
        words(
            transition.at, transition.type, transition.step, transition.outlet, transition.effect)
    }

    private func words(_ transition: SimulationReport.Transition) -> String {
        words(
            transition.at, transition.type, transition.step, transition.outlet, transition.effect)
    }

    private func words(
        _ at: Instant, _ type: String, _ step: StepID, _ outlet: String?, _ effect: String?
    ) -> String {
        "\(type) \(step)" + (outlet.map { " by \($0)" } ?? "")
            + (effect.map { " with its effect \($0)" } ?? "") + " at \(at)"
    }
}
