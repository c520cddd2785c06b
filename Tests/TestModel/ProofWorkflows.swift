package import JSON

/// Workflows whose every way ends within seconds: waits, delays, exits, goals, actions.
package enum ProofWorkflows {
    /// All of them.
    ///
    /// - Parameter edition: told in a description: each edition is a version of its own.
    package static func all(edition: Int) -> [JSONValue] {
        [trial(edition), onceOnly, each, lookBack, restarted]
    }

    private static func tell(
        _ account: String, next: JSONValue = "end", missed: JSONValue
    ) -> JSONValue {
        [
            "type": "action", "tool": "http", "account": .string(account),
            "attempt_timeout": "PT1S",
            "retry": ["attempts": 6, "backoff": "PT1S", "max": "PT1S"],
            "with": [
                "path": .string("/" + account),
                "json": ["run": ["ref": "/run/id"], "event": ["ref": "/event/meta/id"]],
            ], "next": next, "on_failed": missed, "on_timeout": missed,
        ]
    }

    private static let note: JSONValue = [
        "type": "action", "tool": "log", "with": ["level": "debug", "text": "missed"],
        "next": "end",
    ]

    private static func trial(_ edition: Int) -> JSONValue {
        [
            "dsl": 1, "id": "proof-trial", "kind": "journey",
            "description": .string("edition \(edition)"),
            "entry": [
                "trigger": ["event": "trial.started"], "key": "subscription",
                "reentry": "every_time",
            ],
            "goal": ["event": "trial.converted", "within": "P14D"],
            "exits": [["event": "subscription.refunded", "reason": "taken_back"]],
            "start": "first",
            "steps": [
                "first": [
                    "type": "wait_until",
                    "branches": [
                        ["id": "cancelled", "event": "trial.cancelled", "next": "tell"],
                        ["id": "payment", "event": "subscription.billing_issue", "next": "pause"],
                    ],
                    "timeout": "PT2S", "on_timeout": "pause",
                ],
                "pause": ["type": "delay", "for": "PT1S", "next": "tell"],
                "tell": tell("sure", next: "second", missed: "note"),
                "second": [
                    "type": "wait_until", "since": "run",
                    "branches": [
                        ["id": "back", "event": "trial.uncancelled", "next": "again"]
                    ],
                    "timeout": "PT2S", "on_timeout": "end",
                ],
                "again": tell("once", missed: "note"),
                "note": note,
            ],
        ]
    }

    private static let onceOnly: JSONValue = [
        "dsl": 1, "id": "proof-once", "kind": "journey",
        "entry": ["trigger": ["event": "trial.started"]],
        "exits": [["event": "subscription.expired"]],
        "start": "tell",
        "steps": ["tell": tell("once", missed: "note"), "note": note],
    ]

    private static let each: JSONValue = [
        "dsl": 1, "id": "proof-each", "kind": "automation",
        "entry": [
            "trigger": ["event": "subscription.renewed"], "reentry": "every_time",
            "when_live": "start_another",
        ],
        "start": "tell",
        "steps": ["tell": tell("sure", missed: "note"), "note": note],
    ]

    private static let lookBack: JSONValue = [
        "dsl": 1, "id": "proof-look", "kind": "journey",
        "entry": [
            "trigger": ["event": "subscription.billing_issue"],
            "reentry": ["once_per_window": "PT5S"],
        ],
        "start": "tell",
        "steps": [
            "tell": tell("sure", next: "wait", missed: "wait"),
            "wait": [
                "type": "wait_until", "since": "run",
                "branches": [
                    [
                        "id": "paid", "event": ["subscription.renewed", "trial.converted"],
                        "next": "thank",
                    ],
                    ["id": "gone", "event": "subscription.cancelled", "next": "end"],
                ],
                "timeout": "PT3S", "on_timeout": "end",
            ],
            "thank": tell("once", missed: "end"),
        ],
    ]

    private static let restarted: JSONValue = [
        "dsl": 1, "id": "proof-restart", "kind": "journey",
        "entry": [
            "trigger": ["event": ["subscription.cancelled", "trial.cancelled"]],
            "reentry": "every_time", "when_live": "restart",
        ],
        "exits": [["event": ["trial.uncancelled"], "reason": "stays"]],
        "start": "calm",
        "steps": [
            "calm": ["type": "delay", "for": "PT2S", "next": "choose"],
            "choose": [
                "type": "branch",
                "branches": [
                    [
                        // One that reads the customer, so that histories hold what was read.
                        "id": "trial",
                        "if": [
                            "any": [
                                ["exists": ["ref": "/customer/plan"]],
                                ["eq": [["ref": "/event/period_type"], "trial"]],
                            ]
                        ],
                        "next": "tell",
                    ]
                ],
                "else": "gone",
            ],
            "tell": tell("sure", missed: "end"),
            "gone": ["type": "exit", "reason": "gone"],
        ],
    ]
}
