package import JSON
package import JourneyModel
internal import TimeZones

/// What a merge of two records does to one run: of the record that goes, or of the one that stays (S10).
package struct RunMove: Sendable, Hashable {
    /// Whose run it was, and whose it is from now on; the same for a run of the record that stays.
    package var from: CustomerID
    package var into: CustomerID
    /// By how much the run's ordinals grow: those of the record that goes follow the other's.
    package var shift: Int64
    /// Ordinals that come in with the merge and are not to be looked back at.
    package var hides: ClosedRange<Int64>?
    /// The slot among live runs of the key (S4), where the run's own is taken.
    package var slot: Int?

    package init(
        from: CustomerID, into: CustomerID, shift: Int64, hides: ClosedRange<Int64>? = nil,
        slot: Int? = nil
    ) {
        self.from = from
        self.into = into
        self.shift = shift
        self.hides = hides
        self.slot = slot
    }

    /// The members of its `input` entry beside the ordinal and the time.
    var historyMembers: JSONObject {
        var members = JSONObject([
            ("merge", .integer(from.number)), ("into", .integer(into.number)),
            ("shift", .integer(shift)),
        ])
        members["hides"] = hides.map { [.integer($0.lowerBound), .integer($0.upperBound)] }
        members["slot"] = slot.map { .integer($0) }
        return members
    }

    /// Reads the members of an `input` entry.
    package init(history members: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "merge", object: members)
        self.init(
            from: CustomerID(try reader.integer("merge")),
            into: CustomerID(try reader.integer("into")), shift: try reader.integer("shift"),
            slot: members["slot"]?.integer.map { Int($0) })
        if let range = members["hides"] {
            guard let range = ClosedRange(ordinals: range) else { throw reader.error("hides") }
            hides = range
        }
    }
}

extension ClosedRange where Bound == Int64 {
    /// Reads `[first, last]`.
    init?(ordinals json: JSONValue) {
        guard let bounds = json.array?.compactMap(\.integer), bounds.count == 2,
            bounds[0] <= bounds[1]
        else { return nil }
        self = bounds[0]...bounds[1]
    }
}

extension Run {
    /// Whether an event of that ordinal was taken before this run was the customer's.
    func hides(_ ordinal: Int64) -> Bool { hidden.contains { $0.contains(ordinal) } }

    /// The run as the customer's whom the merge left.
    fileprivate mutating func take(_ move: RunMove) {
        customer = move.into
        if let slot = move.slot { self.slot = slot }
        if let hides = move.hides { hidden.append(hides) }
        guard move.shift != 0 else { return }
        hidden = hidden.map { range in
            range == move.hides
                ? range : (range.lowerBound + move.shift)...(range.upperBound + move.shift)
        }
        entryOrdinal += move.shift
        for step in entries.keys { entries[step]?.ordinal += move.shift }
        switch position?.waiting {
        case .events(let mark, let due):
            position?.waiting = .events(mark: mark + move.shift, due: due)
        case .effect(let invocation, let ordinal):
            position?.waiting = .effect(invocation, requestedOrdinal: ordinal + move.shift)
        case .delay, .window, nil: break
        }
    }
}

extension RunMachine {
    mutating func take(_ move: RunMove) {
        var members = move.historyMembers
        members["ordinal"] = .integer(ordinal)
        members["at"] = .string(now.description)
        drive(as: members)
        run.take(move)
        record(
            .merged,
            JSONObject([
                ("from", .integer(move.from.number)), ("into", .integer(move.into.number)),
            ]))
    }
}
