package import JSON
package import JourneyModel

extension EffectOutcome {
    /// The word stored and shown: `succeeded`, `failed`, `timed_out`, `expired`, `unknown`, `suppressed`.
    package var word: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .timedOut: "timed_out"
        case .expired: "expired"
        case .unknown: "unknown"
        case .suppressed: "suppressed"
        }
    }

    /// The stored form of an outcome, as the inbox and the history hold it.
    package var json: JSONObject {
        var json = JSONObject([("outcome", .string(word))])
        switch self {
        case .succeeded(let result): json["result"] = result
        case .failed(let error, let detail):
            json["error"] = .string(error)
            json["detail"] = detail
        case .suppressed(let reason): json["reason"] = .string(reason)
        case .timedOut, .expired, .unknown: break
        }
        return json
    }

    /// Reads what ``json`` wrote.
    package init(json: JSONObject) throws(StoredFormError) {
        let reader = StoredObject(subject: "effect outcome", object: json)
        switch try reader.string("outcome") {
        case "succeeded": self = .succeeded(json["result"] ?? .object(JSONObject()))
        case "failed":
            self = .failed(error: try reader.string("error"), detail: json["detail"] ?? .null)
        case "timed_out": self = .timedOut
        case "expired": self = .expired
        case "unknown": self = .unknown
        case "suppressed": self = .suppressed(reason: try reader.string("reason"))
        default: throw reader.error("outcome")
        }
    }
}
