extension Diagnostic {
    /// What kind of mistake it is: stable words for editors and scripts.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text is not JSON, or too long to be read.
        case syntax
        /// A key stands twice in one object.
        case twinKey = "twin_key"
        case unknownKey = "unknown_key"
        case missingKey = "missing_key"
        /// A value of the wrong kind, word or pattern.
        case form
        /// The language has it, this version has not.
        case notSupported = "not_supported"
        /// Refused on purpose, for the reason the sentence gives.
        case refused
        /// A text of too many bytes, or a part nested too deeply.
        case size
        /// A duration out of its range.
        case duration
        /// A number out of the range that another part allows.
        case range
        /// A cron expression that cannot be read, or never matches.
        case schedule
        case template
        /// An event that nobody declares.
        case event
        /// A step, milestone, segment, experiment, workflow, partial or zone that does not exist.
        case name
        /// A name that stands twice, or in the wrong file.
        case identity
        /// A pointer that names nothing where it stands.
        case pointer
        /// Operands that can never be compared.
        case type
        /// A step that no way leads to, or a part that is never used.
        case unused
        /// A cycle without a pause.
        case cycle
        /// Waits that add up past the limit.
        case time
        /// A part that can never be taken, because another ends the run before.
        case neverTaken = "never_taken"
        /// Keys that stand well each by itself and not together.
        case combination
        /// Doubtful, and published all the same.
        case doubt

        /// Whether the published JSON Schema refuses the same: it knows the form of a file, and neither
        /// its other parts nor other files.
        package var isStatedBySchema: Bool {
            switch self {
            case .unknownKey, .missingKey, .form, .notSupported, .refused: true
            case .syntax, .twinKey, .size, .duration, .range, .schedule, .template, .event, .name,
                .identity, .pointer, .type, .unused, .cycle, .time, .neverTaken, .combination,
                .doubt:
                false
            }
        }
    }
}
