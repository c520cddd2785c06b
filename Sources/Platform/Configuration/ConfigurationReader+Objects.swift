internal import JSON

extension ConfigurationReader {
    /// The object at `key`; an absent one reads as empty, so that defaults and overrides apply.
    package func object(_ key: String) -> ConfigurationReader {
        session.noteRead(key, in: pointer)
        switch members[key] {
        case .some(.object(let members)): return child(key, members)
        case .none, .some(.null): return child(key, JSONObject())
        case .some(let value):
            problem(key, "An object is needed here, not \(value.kind).")
            return child(key, JSONObject())
        }
    }

    /// The object at `key`, or nil when it is absent and no variable sets anything in it.
    package func optionalObject(_ key: String) -> ConfigurationReader? {
        has(key) ? object(key) : markAbsent(key)
    }

    /// The objects within the object at `key`, by name, in the order of the text.
    package func objects(_ key: String) -> [(name: String, reader: ConfigurationReader)] {
        let outer = object(key)
        return outer.members.map { name, value in
            session.noteRead(name, in: outer.pointer)
            guard case .object(let members) = value else {
                outer.problem(name, "An object is needed here, not \(value.kind).")
                return (name, outer.child(name, JSONObject()))
            }
            return (name, outer.child(name, members))
        }
    }

    /// The objects in the array at `key`; an absent one counts as empty.
    ///
    /// - Parameter limit: the most objects that are admitted.
    package func objectArray(_ key: String, limit: Int = 1_024) -> [ConfigurationReader] {
        session.noteRead(key, in: pointer)
        let items: [JSONValue]
        switch members[key] {
        case .none, .some(.null): return []
        case .some(.array(let array)): items = array
        case .some(let value):
            problem(key, "An array of objects is needed here, not \(value.kind).")
            return []
        }
        guard items.count <= limit else {
            problem(key, "The array holds more than \(limit) objects; shorten it.")
            return []
        }
        let list = ConfigurationReader(
            session: session, pointer: pointer.appending(key), members: JSONObject())
        return items.enumerated().compactMap { index, item in
            guard case .object(let members) = item else {
                list.problem(String(index), "An object is needed here, not \(item.kind).")
                return nil
            }
            return list.child(String(index), members)
        }
    }

    private func child(_ key: String, _ members: JSONObject) -> ConfigurationReader {
        let place = pointer.appending(key)
        session.visit(place, members)
        return ConfigurationReader(session: session, pointer: place, members: members)
    }

    private func markAbsent(_ key: String) -> ConfigurationReader? {
        session.noteRead(key, in: pointer)
        return nil
    }
}
