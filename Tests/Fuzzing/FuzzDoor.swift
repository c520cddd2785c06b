import Glibc

/// A door that bytes of strangers come in by, tried with any bytes at all. Built by `deploy/fuzz` alone,
/// which links libFuzzer's own `main`: it calls ``fuzzOneInput(_:_:)`` until its time is over.
///
/// A wrong answer traps like any other wrong program, so that libFuzzer keeps the bytes that led to it.
enum FuzzDoor: String, CaseIterable {
    case http, json, signatures, mapping

    /// The door that the variable `FUZZ_DOOR` names.
    static let chosen: FuzzDoor = {
        guard let text = getenv("FUZZ_DOOR"), let door = FuzzDoor(rawValue: String(cString: text))
        else {
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            fatalError("FUZZ_DOOR names no door; it is one of \(names)")
        }
        return door
    }()

    func take(_ bytes: [UInt8]) {
        switch self {
        case .http: fuzzHTTP(bytes)
        case .json: fuzzJSON(bytes)
        case .signatures: SignatureDoor.shared.take(bytes)
        case .mapping: MappingDoor.shared.take(bytes)
        }
    }
}

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzDoor.chosen.take(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// Ends the program, and so keeps the input, when what must hold does not.
func require(_ holds: Bool, _ fact: @autoclosure () -> String) {
    if !holds { fatalError(fact()) }
}
