/// One reading of a name, for a checker that knows which names exist.
package struct TemplateReference: Sendable, Hashable {
    /// What the name is read for.
    package enum Role: Sendable, Hashable {
        /// To be printed; it must have a value with ``Template/Missing/error``.
        case variable
        /// To be tested or repeated; it may be missing.
        case section
    }

    /// The name as written: dotted, or `.` for the implicit iterator.
    package let name: String
    /// What it is read for.
    package let role: Role
    /// The sections around it that open with a value, outermost first. When there are none the name
    /// is read from the scope; otherwise a section's own value may hold its first part.
    package let sections: [String]
    /// The line of the tag, from 1.
    package let line: Int
    /// The column of the tag in Unicode scalars, from 1.
    package let column: Int
}
