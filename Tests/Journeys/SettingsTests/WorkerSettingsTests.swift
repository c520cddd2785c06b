import Configuration
import Connectors
import JSON
import Settings
import Telemetry
import TestMaterial
import TestSupport
import Testing
import TimeZones

/// A configuration is usable as a whole, or every problem is told with its place.
@Suite struct WorkerSettingsTests {
    @Test func `the shipped example is valid and is read whole`() throws {
        let path = PackageFiles.root + "/deploy/config.example.json"
        let settings = try WorkerSettings.read(
            try .file(path, environment: SettingsWorld.environment))
        #expect(settings.database.url.revealed == "postgresql://journey@db/journey")
        #expect(settings.database.directURL == nil)
        #expect(settings.database.pool == 8)
        #expect(settings.database.statementTimeout == .seconds(10))
        #expect(settings.listen.ingest == "127.0.0.1:8080")
        #expect(settings.listen.trustedProxies == ["127.0.0.1"])
        #expect(settings.listen.maximumBody == 1_048_576)
        #expect(settings.timezone == "Etc/UTC")
        #expect(settings.connectors.keys.sorted() == ["revenuecat", "superwall"])
        #expect(settings.connectors["superwall"]?.identity != nil)
        let crm = try #require(settings.accounts["crm"])
        #expect(crm.baseURL == "https://crm.example.com")
        #expect(crm.headers.map(\.value.revealed) == ["Bearer crm-token"])
        #expect(crm.ratePerSecond == 50)
        #expect(crm.isIdempotent)
        let hook = try #require(settings.accounts["ops-hook"])
        #expect(hook.allowedHosts == ["hooks.example.com"])
        #expect(hook.ratePerSecond == nil)
        #expect(settings.accounts["lifecycle"]?.channel == "email")
        #expect(settings.accounts["team-slack"]?.isIdempotent == false)
        #expect(settings.sources["backend"]?.access == .tokens(["a-token-of-the-back-end"]))
        #expect(settings.worker.batch == 200)
        #expect(settings.dispatch.concurrency == 64)
        #expect(settings.shutdownGrace == .seconds(25))
        #expect(settings.retention.rawBodies == .seconds(90 * 86_400))
        #expect(settings.retention.forgetRemember == .seconds(400 * 86_400))
        #expect(settings.log.format == .json)
        #expect(!settings.log.showsCustomerIDs)
    }

    @Test func `the example without its variables names each of them once`() throws {
        let path = PackageFiles.root + "/deploy/config.example.json"
        do throws(ConfigurationRejection) {
            _ = try WorkerSettings.read(try .file(path, environment: [:]))
            Issue.record("taken without secrets")
        } catch {
            #expect(error.problems.count == 9)
            for name in SettingsWorld.environment.keys {
                let about = error.problems.filter { $0.sentence.contains(name) }
                #expect(about.count == 1, "\(name)")
                #expect(about.first?.line != nil)
            }
        }
    }

    @Test func `what a migration needs is enough`() {
        #expect(SettingsWorld.problems(SettingsWorld.json()).isEmpty)
        #expect(
            SettingsWorld.problems([:])
                == [
                    "/database/url: A secret is needed here; write {\"env\": \"NAME\"} or "
                        + "{\"file\": \"/path\"}."
                ])
    }

    /// What is wrong, where, and a part of the sentence.
    static let refusals: [(JSONObject, String, String)] = [
        (JSONObject([("dispach", [:])]), "/dispach", "dispatch"),
        (JSONObject([("dispatch", 3)]), "/dispatch", "An object"),
        (
            JSONObject([("database", ["url": "x", "pool": 1])]), "/database/pool",
            "between 2 and 100"
        ),
        (
            JSONObject([("database", ["url": "x", "prepare": "no"])]), "/database/prepare",
            "auto, never"
        ),
        (JSONObject([("database", ["url": ""])]), "/database/url", "empty"),
        (
            JSONObject([("database", ["url": "x", "statement_timeout": "10s"])]),
            "/database/statement_timeout", "P"
        ),
        (JSONObject([("listen", ["ingest": "8080"])]), "/listen/ingest", "host:port"),
        (JSONObject([("listen", ["admin": "127.0.0.1:99999"])]), "/listen/admin", "host:port"),
        (JSONObject([("listen", ["ingest": ":80"])]), "/listen/ingest", "host:port"),
        (JSONObject([("listen", ["max_body": 10])]), "/listen/max_body", "between"),
        (JSONObject([("listen", ["tls": ["certificate": "/c"]])]), "/listen/tls/key", "needed"),
        (JSONObject([("timezone", "Mars/Olympus")]), "/timezone", "Mars/Olympus"),
        (JSONObject([("timezone", "../etc/passwd")]), "/timezone", "no name of a time zone"),
        (JSONObject([("worker", ["batch": 501])]), "/worker/batch", "between 1 and 500"),
        (JSONObject([("worker", ["poll": "PT0S"])]), "/worker/poll", "between"),
        (JSONObject([("dispatch", ["concurrency": 0])]), "/dispatch/concurrency", "between"),
        (JSONObject([("shutdown", ["grace": "PT1H"])]), "/shutdown/grace", "between"),
        (JSONObject([("log", ["level": "warn"])]), "/log/level", "warning"),
        (JSONObject([("log", ["customer_ids": true])]), "/log/customer_ids", "string"),
        (
            JSONObject([("accounts", ["a": ["tool": "smtp"]])]), "/accounts/a/tool",
            "http, slack, log"
        ),
        (JSONObject([("accounts", ["a": ["rate": "fast"]])]), "/accounts/a/rate", "50/s"),
        (JSONObject([("accounts", ["a": ["rate": "0/s"]])]), "/accounts/a/rate", "50/s"),
        (JSONObject([("accounts", ["a": ["base_url": "crm"]])]), "/accounts/a/base_url", "http://"),
        (
            JSONObject([("accounts", ["a": ["base_url": "https://u:p@x.example"]])]),
            "/accounts/a/base_url", "http://"
        ),
        (
            JSONObject([("accounts", ["a": ["base_url": "https://x.example/?a=b"]])]),
            "/accounts/a/base_url", "path"
        ),
        (
            JSONObject([
                ("accounts", ["a": ["base_url": "https://x.example", "allow_hosts": ["y"]]])
            ]),
            "/accounts/a/allow_hosts", "x.example"
        ),
        (
            JSONObject([
                ("accounts", ["a": ["base_url": "https://a.example.com", "headers": ["a b": "v"]]])
            ]), "/accounts/a/headers/a b",
            "name"
        ),
        (
            JSONObject([
                (
                    "accounts",
                    ["a": ["base_url": "https://a.example.com", "headers": ["Host": "v"]]]
                )
            ]),
            "/accounts/a/headers/Host", "worker"
        ),
        (
            JSONObject([
                (
                    "accounts",
                    ["a": ["base_url": "https://a.example.com", "headers": ["X": "v\r\nY: z"]]]
                )
            ]),
            "/accounts/a/headers/X", "control"
        ),
        (
            JSONObject([("accounts", ["a": ["secret": "any-text"]])]), "/accounts/a/base_url",
            "allow_hosts"
        ),
        (
            JSONObject([
                ("accounts", ["a": ["base_url": "https://a.example.com", "secret": "whsec_*"]])
            ]), "/accounts/a/secret", "base64"
        ),
        (
            JSONObject([("accounts", ["a": ["messaging": true]])]), "/accounts/a/channel",
            "name it"
        ),
        (JSONObject([("connectors", ["c": [:]])]), "/connectors/c/provider", "needed"),
        (
            JSONObject([("connectors", ["c": ["provider": "stripe2"]])]),
            "/connectors/c/provider", "revenuecat, superwall"
        ),
        (
            JSONObject([("connectors", ["c": ["provider": "revenuecat"]])]),
            "/connectors/c/authenticate", "no authentication"
        ),
        (
            JSONObject([
                (
                    "connectors",
                    [
                        "c": [
                            "provider": "revenuecat", "authenticate": [["scheme": "authorization"]],
                        ]
                    ]
                )
            ]), "/connectors/c/authenticate", "no secret"
        ),
        (
            JSONObject([
                (
                    "connectors",
                    [
                        "c": [
                            "provider": "superwall",
                            "authenticate": [
                                ["scheme": "standard-webhooks", "secret": "whsec_%%%"]
                            ],
                        ]
                    ]
                )
            ]), "/connectors/c/authenticate", "/connectors/c/authenticate/0/secret"
        ),
        (
            JSONObject([
                ("listen", ["ingest": "0.0.0.0:80"]),
                (
                    "connectors",
                    ["c": ["provider": "revenuecat", "authenticate": [["scheme": "none"]]]]
                ),
            ]), "/connectors/c/authenticate", "insecure"
        ),
        (
            JSONObject([
                (
                    "connectors",
                    [
                        "c": [
                            "provider": "revenuecat", "identity": "data/userId",
                            "authenticate": [["scheme": "none"]],
                        ]
                    ]
                )
            ]), "/connectors/c/identity", "JSON Pointer"
        ),
    ]

    @Test(arguments: refusals)
    func `each thing that is wrong is told once, where it stands`(
        changes: JSONObject, pointer: String, part: String
    ) {
        let problems = SettingsWorld.problems(SettingsWorld.json(changes))
        #expect(problems.count == 1, "\(problems)")
        #expect(problems.first?.hasPrefix(pointer + ": ") == true, "\(problems)")
        #expect(problems.first?.contains(part) == true, "\(problems)")
    }

    @Test func `all problems are told together`() {
        let problems = SettingsWorld.problems([
            "database": ["pool": 0], "listen": ["ingest": 5], "nonsense": 1,
            "accounts": ["a": ["concurrency": "many"]],
        ])
        #expect(problems.count == 5, "\(problems)")
    }

    @Test func `secrets are never printed, whatever is wrong with them`() throws {
        let marks = ["s3cr3t-one", "s3cr3t-two\u{1}", "whsec_s3cr3t!", "s3cr3t"]
        let json = SettingsWorld.json(
            JSONObject([
                ("database", ["url": .string(marks[0]), "pool": 0]),
                (
                    "connectors",
                    [
                        "c": [
                            "provider": "revenuecat",
                            "authenticate": [
                                ["scheme": "authorization", "secret": .string(marks[1])]
                            ],
                        ],
                        "d": [
                            "provider": "superwall",
                            "authenticate": [
                                ["scheme": "standard-webhooks", "secret": .string(marks[2])]
                            ],
                        ],
                    ]
                ),
                (
                    "accounts",
                    [
                        "a": [
                            "base_url": "https://a.example.com", "secret": .string(marks[2]),
                            "headers": ["a b": "s3cr3t"],
                        ]
                    ]
                ),
            ]))
        let problems = SettingsWorld.problems(json)
        #expect(problems.count >= 5)
        for problem in problems { #expect(!problem.contains("s3cr3t"), "\(problem)") }
        let good = try SettingsWorld.read(
            SettingsWorld.json(
                JSONObject([
                    ("database", ["url": "s3cr3t"]),
                    (
                        "accounts",
                        [
                            "a": [
                                "base_url": "https://a.example.com", "secret": "s3cr3t",
                                "headers": ["X": "s3cr3t"],
                            ]
                        ]
                    ),
                    (
                        "connectors",
                        [
                            "c": [
                                "provider": "revenuecat",
                                "authenticate": [
                                    ["scheme": "authorization", "secret": "s3cr3t-authorization"]
                                ],
                            ]
                        ]
                    ),
                ])))
        var dumped = ""
        dump(good, to: &dumped)
        #expect(!dumped.contains("s3cr3t"))
        #expect(!"\(good)".contains("s3cr3t"))
    }

    @Test func `a literal secret is refused unless the file allows it`() {
        let problems = SettingsWorld.problems(["database": ["url": "host=x"]])
        #expect(problems.count == 1)
        #expect(problems.first?.contains("does not belong in this file") == true)
    }

    @Test func `variables override what the file says, and what it leaves out`() throws {
        let settings = try SettingsWorld.read(
            SettingsWorld.json(
                JSONObject([("accounts", ["crm": ["base_url": "https://a.example"]])])),
            [
                "JOURNEY_DATABASE__URL": "host=elsewhere", "JOURNEY_DATABASE__POOL": "12",
                "JOURNEY_LISTEN__INGEST": "0.0.0.0:80", "JOURNEY_WORKER__POLL": "PT5S",
                "JOURNEY_ACCOUNTS__CRM__BASE_URL": "https://b.example", "JOURNEYS_OTHER": "x",
                "JOURNEY_LISTEN__TRUSTED_PROXIES": "[\"10.0.0.0/8\", \"::1\"]",
            ])
        #expect(settings.database.url.revealed == "host=elsewhere")
        #expect(settings.database.pool == 12)
        #expect(settings.listen.ingest == "0.0.0.0:80")
        #expect(!settings.listen.isLoopback)
        #expect(settings.worker.poll == .seconds(5))
        #expect(settings.accounts["crm"]?.allowedHosts == ["b.example"])
        #expect(settings.listen.trustedProxies == ["10.0.0.0/8", "::1"])
    }

    @Test func `a variable that overrides nothing is told by name`() {
        let problems = SettingsWorld.problems(
            SettingsWorld.json(), ["JOURNEY_DATABASE__POOLL": "3", "JOURNEY_DATABASE__POOL": "x"])
        #expect(problems.count == 2)
        #expect(problems.contains { $0.contains("JOURNEY_DATABASE__POOLL") })
        #expect(problems.contains { $0.contains("JOURNEY_DATABASE__POOL must") })
    }

    @Test func `secrets are read from files`() throws {
        try TemporaryFolder.with { folder in
            let path = folder + "/url"
            try TextFile.write("host=of-a-file\n", to: path)
            let settings = try SettingsWorld.read(["database": ["url": ["file": .string(path)]]])
            #expect(settings.database.url.revealed == "host=of-a-file")
        }
        let problems = SettingsWorld.problems(["database": ["url": ["file": "/nowhere/at/all"]]])
        #expect(problems == ["/database/url: The file /nowhere/at/all does not exist."])
    }

    @Test func `two live secrets stand in one entry, and either is taken`() throws {
        let settings = try SettingsWorld.read(
            SettingsWorld.json(
                JSONObject([
                    (
                        "connectors",
                        [
                            "c": [
                                "provider": "revenuecat",
                                "authenticate": [
                                    [
                                        "scheme": "authorization", "secret": "old-secret",
                                        "next_secret": "new-secret",
                                    ]
                                ],
                            ]
                        ]
                    )
                ])))
        let connector = try #require(settings.connectors["c"])
        for value in ["old-secret", "new-secret"] {
            #expect(
                connector.authenticate(
                    headers: [("Authorization", value)], body: [],
                    now: .init(milliseconds: 0)) == .accepted)
        }
    }

    @Test(
        arguments: [
            ("https://Crm.Example.com:8443/a?b", "crm.example.com"), ("http://[::1]:80/", "[::1]"),
            ("https://", nil), ("ftp://x", nil), ("https://u@x", nil), ("http://[::1", nil),
            ("https://:80", nil),
        ] as [(String, String?)])
    func `the host of a URL is found by its authority`(url: String, host: String?) {
        #expect(AccountSettings.host(of: url) == host)
    }
}
