extension WorkerService {
    /// Parts that may run in processes of their own.
    package struct Roles: OptionSet, Sendable, Hashable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        /// Takes webhooks in.
        package static let ingest = Roles(rawValue: 1)
        /// Routes and takes turns.
        package static let worker = Roles(rawValue: 2)
        /// Makes the attempts of effects.
        package static let dispatch = Roles(rawValue: 4)
        package static let all: Roles = [.ingest, .worker, .dispatch]

        /// Reads `ingest,worker,dispatch`; nil for another word.
        package init?(words: String) {
            self = []
            for word in words.split(separator: ",") {
                switch word {
                case "ingest": insert(.ingest)
                case "worker": insert(.worker)
                case "dispatch": insert(.dispatch)
                default: return nil
                }
            }
            if isEmpty { return nil }
        }
    }
}
