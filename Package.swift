// swift-tools-version: 6.2
import PackageDescription

// The map of the house: one line a room, however long, with every room it may see. `deploy/test`
// builds with `--explicit-target-dependency-import-check error`: an import not written here fails.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func room(
    _ name: String, in floor: String, sees: [String] = [], resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: sees.map { .byName(name: $0) }, path: "Sources/\(floor)/\(name)",
        resources: resources, swiftSettings: strict)
}

func command(_ name: String, sees: [String]) -> Target {
    .executableTarget(
        name: name, dependencies: sees.map { .byName(name: $0) }, path: "Sources/Commands/\(name)",
        swiftSettings: strict)
}

func tests(_ name: String, in floor: String? = nil, sees: [String]) -> Target {
    .testTarget(
        name: name, dependencies: sees.map { .byName(name: $0) },
        path: floor.map { "Tests/\($0)/\(name)" } ?? "Tests/\(name)", swiftSettings: strict)
}

func library(_ name: String, pkgConfig: String? = nil, debian: [String] = []) -> Target {
    .systemLibrary(
        name: name, path: "Sources/Platform/\(name)", pkgConfig: pkgConfig,
        providers: debian.isEmpty ? nil : [.apt(debian)])
}

// swift-format-ignore
let platform: [Target] = [
    library("CLinux"),
    library("CPostgres", pkgConfig: "libpq", debian: ["libpq-dev"]),
    library("COpenSSL", pkgConfig: "libssl", debian: ["libssl-dev"]),
    library("CCurlSystem", pkgConfig: "libcurl", debian: ["libcurl4-openssl-dev"]),
    .target(name: "CCurl", dependencies: ["CCurlSystem"], path: "Sources/Platform/CCurl"),

    room("JSON", in: "Platform", sees: []),
    room("Locks", in: "Platform", sees: []),
    room("Crypto", in: "Platform", sees: ["COpenSSL"]),
    room("TimeZones", in: "Platform", sees: ["Locks"]),
    room("Reactor", in: "Platform", sees: ["CLinux", "Locks"]),
    room("Telemetry", in: "Platform", sees: ["JSON", "Locks", "TimeZones"]),
    room("Configuration", in: "Platform", sees: ["JSON", "TimeZones"]),
    room("CommandLine", in: "Platform", sees: ["JSON", "Locks"]),
    room("Postgres", in: "Platform", sees: ["CPostgres", "Reactor", "TimeZones"]),
    room("PrivateCluster", in: "Platform", sees: ["CLinux", "Locks"]),
    room("HTTPServer", in: "Platform", sees: ["CLinux", "COpenSSL", "Locks", "Reactor"]),
    room("HTTPClient", in: "Platform", sees: ["CCurl", "CLinux", "Reactor"]),
]

// swift-format-ignore
let journeys: [Target] = [
    room("JourneyModel", in: "Journeys", sees: ["Crypto", "JSON", "TimeZones"]),
    room("WorkflowDefinitions", in: "Journeys", sees: ["Crypto", "JourneyModel", "JSON", "Templates", "TimeZones"]),
    room("JourneyEngine", in: "Journeys", sees: ["Crypto", "JourneyModel", "JSON", "Templates", "TimeZones", "WorkflowDefinitions"]),
    room("Templates", in: "Journeys", sees: ["JSON"]),
    room("Connectors", in: "Journeys", sees: ["Crypto", "JourneyModel", "JSON", "TimeZones"], resources: [.embedInCode("Providers")]),
    room("Settings", in: "Journeys", sees: ["Configuration", "Connectors", "Crypto", "JSON", "Postgres", "Telemetry", "TimeZones", "WorkflowDefinitions"]),
    room("WebhookIngest", in: "Journeys", sees: ["Connectors", "Crypto", "HTTPServer", "JourneyModel", "JourneyStorage", "JSON", "Locks", "Postgres", "Reactor", "Telemetry", "TimeZones"]),
    room("EffectDispatch", in: "Journeys", sees: ["Configuration", "Crypto", "HTTPClient", "JourneyEngine", "JourneyModel", "JourneyStorage", "JSON", "Locks", "Reactor", "Settings", "Telemetry", "TimeZones", "WorkflowDefinitions"]),
    room("JourneyWorker", in: "Journeys", sees: ["Connectors", "EffectDispatch", "HTTPServer", "JourneyEngine", "JourneyModel", "JourneyStorage", "JourneyTurns", "Locks", "Postgres", "Reactor", "Settings", "Telemetry", "TimeZones", "WebhookIngest", "WorkflowDefinitions"]),
    room("JourneyTurns", in: "Journeys", sees: ["Connectors", "JourneyEngine", "JourneyModel", "JSON", "TimeZones", "WorkflowDefinitions"]),
    room("JourneyStorage", in: "Journeys", sees: ["JourneyEngine", "JourneyModel", "JourneyTurns", "JSON", "Locks", "Postgres", "TimeZones", "WorkflowDefinitions"], resources: [.embedInCode("Migrations")]),
    room("Simulation", in: "Journeys", sees: ["JourneyEngine", "JourneyModel", "JourneyTurns", "JSON", "TimeZones", "WorkflowDefinitions"]),
]

// swift-format-ignore
let commands: [Target] = [
    command("journey-worker", sees: ["CommandLine", "Configuration", "Connectors", "Crypto", "HTTPServer", "JourneyModel", "JourneyStorage", "JourneyWorker", "JSON", "Locks", "Postgres", "PrivateCluster", "Reactor", "Settings", "Telemetry", "TimeZones", "WorkflowDefinitions"]),
    command("journey-replay", sees: ["CommandLine", "Configuration", "Connectors", "JourneyEngine", "JourneyModel", "JourneyStorage", "JourneyTurns", "JSON", "Postgres", "PrivateCluster", "Reactor", "Settings", "Simulation", "Templates", "TimeZones", "WorkflowDefinitions"]),
    command("journey-bench", sees: ["CLinux", "CommandLine", "Configuration", "Crypto", "JourneyModel", "JourneyStorage", "JourneyWorker", "JSON", "Postgres", "PrivateCluster", "Reactor", "Settings", "Telemetry", "TimeZones", "WorkflowDefinitions"]),
]

// swift-format-ignore
let suites: [Target] = [
    tests("ArchitectureTests", sees: []),
    tests("LocksTests", in: "Platform", sees: ["Locks"]),
    tests("JSONTests", in: "Platform", sees: ["JSON"]),
    tests("CryptoTests", in: "Platform", sees: ["Crypto"]),
    tests("TimeZonesTests", in: "Platform", sees: ["JSON", "TimeZones"]),
    tests("ReactorTests", in: "Platform", sees: ["CLinux", "Locks", "Reactor"]),
    tests("TelemetryTests", in: "Platform", sees: ["JSON", "Locks", "Telemetry", "TimeZones"]),
    tests("ConfigurationTests", in: "Platform", sees: ["Configuration", "JSON", "TimeZones"]),
    tests("CommandLineTests", in: "Platform", sees: ["CommandLine", "JSON"]),
    tests("WorkflowDefinitionsTests", in: "Journeys", sees: ["Crypto", "JourneyModel", "JSON", "TimeZones", "WorkflowDefinitions"]),
    tests("PostgresTests", in: "Platform", sees: ["Postgres", "PrivateCluster", "Reactor", "TestSupport", "TimeZones"]),
    tests("PrivateClusterTests", in: "Platform", sees: ["PrivateCluster", "TestSupport"]),
    tests("HTTPServerTests", in: "Platform", sees: ["CLinux", "COpenSSL", "HTTPServer", "Locks", "Reactor"]),
    tests("HTTPClientTests", in: "Platform", sees: ["CLinux", "HTTPClient", "Locks", "Reactor"]),
    tests("JourneyModelTests", in: "Journeys", sees: ["JourneyModel", "JSON", "TimeZones"]),
    tests("JourneyEngineTests", in: "Journeys", sees: ["JourneyEngine", "JourneyModel", "JSON", "TimeZones", "WorkflowDefinitions"]),
    tests("JourneyTurnsTests", in: "Journeys", sees: ["Connectors", "JourneyEngine", "JourneyModel", "JourneyTurns", "JSON", "TimeZones", "WorkflowDefinitions"]),
    tests("SimulationTests", in: "Journeys", sees: ["JourneyEngine", "JourneyModel", "JSON", "Simulation", "TimeZones", "WorkflowDefinitions"]),
    tests("TemplatesTests", in: "Journeys", sees: ["JSON", "Templates"]),
    tests("ConnectorsTests", in: "Journeys", sees: ["Connectors", "Crypto", "JourneyModel", "JSON", "TimeZones"]),
    tests("ConformanceTests", sees: ["Connectors", "JourneyModel", "JSON", "TimeZones"]),
    tests("JourneyReplayTests", in: "Commands", sees: ["CommandLine", "Connectors", "Crypto", "journey-replay", "JourneyEngine", "JourneyModel", "JourneyStorage", "JourneyTurns", "JSON", "Locks", "Postgres", "PrivateCluster", "Reactor", "TestSupport", "TimeZones", "WorkflowDefinitions"]),
    tests("JourneyStorageTests", in: "Journeys", sees: ["Crypto", "JourneyEngine", "JourneyModel", "JourneyStorage", "JourneyTurns", "JSON", "Postgres", "Reactor", "TestSupport", "TimeZones", "WorkflowDefinitions"]),
    tests("JourneyBenchTests", in: "Commands", sees: ["journey-bench", "JSON", "TestSupport"]),
    tests("SettingsTests", in: "Journeys", sees: ["Configuration", "Connectors", "JourneyModel", "JSON", "Settings", "Telemetry", "TestSupport", "TimeZones", "WorkflowDefinitions"]),
    tests("WebhookIngestTests", in: "Journeys", sees: ["Connectors", "HTTPServer", "JourneyModel", "JourneyStorage", "JSON", "Locks", "Postgres", "Reactor", "Telemetry", "TestSupport", "TimeZones", "WebhookIngest"]),
    tests("EffectDispatchTests", in: "Journeys", sees: ["Configuration", "Crypto", "EffectDispatch", "HTTPClient", "JourneyEngine", "JourneyModel", "JourneyStorage", "JSON", "Locks", "Settings", "TimeZones", "WorkflowDefinitions"]),
    tests("JourneyWorkerTests", in: "Journeys", sees: ["HTTPServer", "JourneyWorker", "Telemetry"]),
    tests("EndToEndTests", sees: ["CLinux", "Configuration", "Crypto", "HTTPClient", "HTTPServer", "journey-worker", "JourneyStorage", "JourneyWorker", "JSON", "Locks", "Postgres", "PrivateCluster", "Reactor", "Settings", "Telemetry", "TestSupport", "TimeZones", "WorkflowDefinitions"]),
    .target(
        name: "TestSupport",
        dependencies: ["Locks", "CLinux", "JSON", "Postgres", "PrivateCluster", "Reactor"],
        path: "Tests/TestSupport", swiftSettings: strict),
]

let package = Package(
    name: "nuxie-journey-worker",
    targets: platform + journeys + commands + suites,
    swiftLanguageModes: [.v6]
)
