/// Runs floors and product in turn, A B A B …: on a shared disk only neighbours can be compared.
struct Judge: Sendable {
    let options: BenchOptions
    /// Tells a person at the terminal how far it is.
    let progress: @Sendable (String) -> Void

    func decide(_ comparison: Comparison) async throws -> [Outcome] {
        let name =
            comparison.measure.rawValue
            + (comparison.connections.map { ", \($0) connections" } ?? "")
        for contender in comparison.floors + [comparison.product] {
            _ = try await contender.run(options.warmUp)
        }
        var floors: [[Sample]] = comparison.floors.map { _ in [] }
        var products: [Sample] = []
        for number in 1...options.runs {
            for (place, floor) in comparison.floors.enumerated() {
                floors[place].append(try await floor.run(options.duration))
            }
            let product = try await comparison.product.run(options.duration)
            products.append(product)
            let beside = zip(comparison.floors, floors).map { floor, samples in
                "\(floor.name) \(fixed(samples.last?.perSecond ?? 0, 0))/s"
            }.joined(separator: ", ")
            progress(
                "\(name): run \(number) of \(options.runs): \(beside), "
                    + "product \(fixed(product.perSecond, 0))/s")
        }
        return zip(comparison.floors, floors).map { floor, samples in
            Outcome(
                measure: comparison.measure, connections: comparison.connections,
                floor: floor.name, floors: samples, products: products)
        }
    }
}
