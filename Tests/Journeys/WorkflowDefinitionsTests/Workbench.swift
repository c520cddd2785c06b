import JSON
import JourneyModel
import Testing
import WorkflowDefinitions

// Definitions to begin with, and the tools to change one part of them.

/// A valid journey that holds every kind of step.
let sample = """
    {
      "dsl": 1, "id": "sample", "kind": "journey", "name": "Sample", "tags": ["one"],
      "entry": {
        "trigger": {"event": ["trial.started", "checkout.opened"]},
        "connectors": ["revenuecat"],
        "where": {"all": [
          {"eq": [{"ref": "/event/period_type"}, "trial"]},
          {"gte": [{"ref": "/event/price"}, {"amount": "1", "currency": "USD"}]}
        ]},
        "unless": {"contains": [{"ref": "/event/raw/tags"}, "internal"]},
        "key": "subscription", "reentry": {"once_per_window": "P7D"}
      },
      "goal": {"event": "trial.converted", "within": "P10D"},
      "exits": [{"event": "trial.expired"}, {"if": {"eq": [{"ref": "/customer/blocked"}, true]}}],
      "limits": {"time": "P30D"},
      "start": "pause",
      "steps": {
        "pause": {"type": "delay", "for": "PT1H", "next": "wait"},
        "wait": {
          "type": "wait_until",
          "branches": [
            {"id": "cancelled", "event": "trial.cancelled", "next": "choose"},
            {"id": "known", "if": {"exists": {"ref": "/customer/email"}}, "next": "choose"}
          ],
          "since": {"step": "pause"}, "timeout": "P3D", "on_timeout": "choose"
        },
        "choose": {
          "type": "branch",
          "branches": [
            {"id": "soon", "if": {"lt": [{"ref": "/trigger/expires_at"}, {"time": {"ref": "/now"}, "plus": "P1D"}]}, "next": "tell"}
          ],
          "else": "say"
        },
        "tell": {
          "type": "action", "tool": "http", "account": "crm",
          "with": {
            "path": "/people", "headers": {"X-Source": "worker"},
            "json": {"product": {"ref": "/event/product_id"}, "list": [1, {"literal": {"ref": "x"}}]}
          },
          "retry": {"attempts": 3}, "next": "say", "on_failed": "quit"
        },
        "say": {"type": "action", "tool": "log", "with": {"text": {"template": "{{event.product_id}}"}}, "next": "end"},
        "quit": {"type": "exit", "reason": "not_told"}
      }
    }
    """

let sampleEvents = EventDeclarations(events: [
    "checkout.opened": [
        "product_id": .string, "seen": .boolean, "count": .number, "at": .instant, "tags": .array,
        "subscription_key": .string,
    ]
])

func value(_ text: String) -> JSONValue {
    do {
        return try JSONParser.parse(text)
    } catch {
        Issue.record("the test's own JSON is wrong: \(error) in \(text)")
        return .null
    }
}

extension JSONValue {
    /// The value with the part at `pointer` set, appended (`-` in an array) or removed with nil.
    func setting(_ pointer: String, to part: JSONValue?) -> JSONValue {
        setting((JSONPointer(pointer) ?? JSONPointer()).tokens[...], to: part)
    }

    private func setting(_ tokens: ArraySlice<String>, to part: JSONValue?) -> JSONValue {
        guard let token = tokens.first else { return part ?? .null }
        let rest = tokens.dropFirst()
        switch self {
        case .object(var object):
            object[token] = rest.isEmpty ? part : (object[token] ?? .null).setting(rest, to: part)
            return .object(object)
        case .array(var items):
            if token == "-" {
                items.append(part ?? .null)
            } else if let index = Int(token), index < items.count {
                items[index] = items[index].setting(rest, to: part)
            }
            return .array(items)
        case .null, .bool, .number, .string:
            return rest.isEmpty ? .object(JSONObject([(token, part ?? .null)])) : .null
        }
    }
}

func read(
    _ definition: JSONValue, file: String = "Workflows/sample.json",
    events: EventDeclarations = sampleEvents
) -> ParseOutcome {
    WorkflowParser.read(Array(definition.pretty.utf8), file: file, events: events)
}
