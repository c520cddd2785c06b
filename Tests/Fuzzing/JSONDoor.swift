import JSON

/// Any bytes as JSON: refused with a sentence, or read so that writing and reading again changes nothing.
func fuzzJSON(_ bytes: [UInt8]) {
    for options in [JSONParser.Options.definition, .webhook, .delivery] {
        do throws(JSONError) {
            let document = try JSONParser.parseDocument(bytes, options: options)
            for pointer in document.offsets.keys {
                require(pointer.resolve(in: document.value) != nil, "a place that is none")
            }
            reread(document.value, document.value.text)
            reread(document.value, document.value.pretty)
        } catch {
            require(!error.description.isEmpty, "a refusal without a sentence")
        }
    }
}

private func reread(_ value: JSONValue, _ text: String) {
    do throws(JSONError) {
        // Where the first reading replaced what PostgreSQL cannot hold, the strictest takes the result.
        require(try JSONParser.parse(text) == value, "written and read again it is another value")
    } catch {
        fatalError("what was written cannot be read: \(error)")
    }
}
