internal import Crypto
internal import JSON
internal import JourneyModel

/// What reading a definition gave: the workflow, unless there was an error, and every diagnostic.
package struct ParseOutcome: Sendable, Hashable {
    /// Nil exactly when a diagnostic is an error.
    package var published: PublishedWorkflow?
    /// In the order of the file; warnings too.
    package var diagnostics: [Diagnostic]

    package init(published: PublishedWorkflow?, diagnostics: [Diagnostic]) {
        self.published = published
        self.diagnostics = diagnostics
    }
}

/// A published form that this version cannot read, which stops that definition's runs only.
package struct PublishedFormError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The first thing that was wrong, as a sentence.
    package let reason: String

    package var description: String {
        "A published workflow cannot be read: \(reason) Publish its file again with this version."
    }
}

/// Reads workflow definitions: what people write, and what was published.
package enum WorkflowParser {
    /// A longer definition is refused unread.
    package static let longestFile = 1_048_576

    /// Nothing doubtful passes. The depth admits the deepest condition in the deepest place.
    static var options: JSONParser.Options {
        var options = JSONParser.Options.definition
        options.maximumDepth = 128
        return options
    }

    /// Reads and checks a definition as a person wrote it.
    ///
    /// - Parameters:
    ///   - bytes: the file's content, at most ``longestFile`` bytes.
    ///   - file: its name for the diagnostics; the last part must be `<id>.json`.
    ///   - events: the app's own events, as `events.json` declares them.
    package static func read(
        _ bytes: [UInt8], file: String, events: EventDeclarations
    ) -> ParseOutcome {
        read(bytes, file: file, context: DefinitionContext(events: events))
    }

    /// Reads and checks a definition with what stands beside it.
    ///
    /// - Parameters:
    ///   - bytes: the file's content, at most ``longestFile`` bytes.
    ///   - file: its name for the diagnostics; the last part must be `<id>.json`.
    ///   - context: the events, segments, experiments, workflows and zones there are.
    package static func read(
        _ bytes: [UInt8], file: String, context: DefinitionContext
    ) -> ParseOutcome {
        let source = DefinitionSource(bytes, file: file)
        var reader = DefinitionReader(context: context)
        reader.problems = source.problems
        var definition: WorkflowDefinition?
        if let root = source.root {
            definition = reader.workflow(root, fileName: source.fileName)
        }
        var published: PublishedWorkflow?
        if let definition, !reader.problems.hasErrors {
            do throws(PublishedFormError) {
                published = try publish(definition)
            } catch {
                reader.problems.add(
                    JSONPointer(),
                    "The form it would be published in is refused: \(error.reason) Write that part "
                        + "otherwise.", code: .size)
            }
        }
        return ParseOutcome(
            published: published, diagnostics: source.diagnostics(reader.problems))
    }

    /// Reads a published form back; its names are not checked again, since the declarations may have
    /// moved on.
    ///
    /// - Throws: when the bytes are not a definition of this language.
    package static func load(
        canonical: [UInt8]
    ) throws(PublishedFormError) -> PublishedWorkflow {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(canonical, options: options)
        } catch {
            throw PublishedFormError(reason: "\(capitalised(error.description)).")
        }
        var reader = DefinitionReader(context: nil)
        let root = Node(value: value, pointer: JSONPointer())
        guard let definition = reader.workflow(root, fileName: nil) else {
            let first = reader.problems.found.first { $0.severity == .error }
            throw PublishedFormError(reason: first?.sentence ?? "It is not a workflow.")
        }
        return PublishedWorkflow(
            definition: definition, canonical: canonical, digest: SHA256.hex(canonical))
    }

    /// The published form. The definition is read back from it, so that a run acts the same whether
    /// its definition came from a file or from the store.
    private static func publish(
        _ definition: WorkflowDefinition
    ) throws(PublishedFormError) -> PublishedWorkflow {
        try load(canonical: definition.json.canonicalBytes)
    }
}

/// A file's bytes as JSON with places, or the problem that kept them from being read.
struct DefinitionSource {
    let file: String
    private let bytes: [UInt8]
    private let offsets: [JSONPointer: Int]
    /// Nil when the text is not JSON.
    let root: Node?
    let problems: Problems

    init(_ bytes: [UInt8], file: String) {
        self.file = file
        self.bytes = bytes
        var problems = Problems()
        var document: JSONParser.Document?
        if bytes.count > WorkflowParser.longestFile {
            problems.add(
                JSONPointer(),
                "The file has \(bytes.count) bytes; at most \(WorkflowParser.longestFile) are read.",
                code: .size)
        } else {
            do throws(JSONError) {
                document = try JSONParser.parseDocument(bytes, options: WorkflowParser.options)
            } catch {
                document = Self.readOn(bytes, after: error, &problems)
            }
        }
        offsets = document?.offsets ?? [:]
        root = document.map { Node(value: $0.value, pointer: JSONPointer()) }
        self.problems = problems
    }

    /// Reports why the text is not strict JSON, and where that is only keys that stand twice reads it
    /// all the same, so that the other problems are found too.
    private static func readOn(
        _ bytes: [UInt8], after error: JSONError, _ problems: inout Problems
    ) -> JSONParser.Document? {
        var options = WorkflowParser.options
        options.refusesDuplicateKeys = false
        do throws(JSONError) {
            let document = try JSONParser.parseDocument(bytes, options: options)
            for twin in TwinKeys.find(in: bytes) {
                problems.add(
                    twin.pointer,
                    "The key \"\(twin.key)\" stands twice in one object; leave one out.",
                    code: .twinKey, offset: twin.offset)
            }
            if !problems.hasErrors {
                problems.add(
                    JSONPointer(), sentence(of: error), code: .syntax, offset: error.offset)
            }
            return document
        } catch {
            problems.add(
                JSONPointer(), sentence(of: error), code: .syntax, offset: error.offset)
            return nil
        }
    }

    private static func sentence(of error: JSONError) -> String {
        switch error.kind {
        case .syntax: "This is not JSON; look for a missing quote, comma or bracket just before."
        case .unexpectedEnd: "The JSON text ends too early; close what is open."
        case .trailingText: "Text follows the JSON value; a file holds one object."
        case .tooDeep: "The JSON is nested too deeply; flatten it."
        case .invalidUTF8: "The text is not UTF-8; save the file as UTF-8."
        case .loneSurrogate: "A \\u escape is half of a surrogate pair; write both halves."
        case .nulCharacter: "A string holds \\u0000, which cannot be stored; leave it out."
        case .duplicateKey(let key): "The key \"\(key)\" stands twice in one object; leave one out."
        }
    }

    /// The last part of the file's name.
    var fileName: String { file.split(separator: "/").last.map { String($0) } ?? file }

    func diagnostics(_ problems: Problems) -> [Diagnostic] {
        problems.diagnostics(file: file, bytes: bytes, offsets: offsets)
    }
}
