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
    library("CZlib", pkgConfig: "zlib", debian: ["zlib1g-dev"]),
    library("COpenSSL", pkgConfig: "libssl", debian: ["libssl-dev"]),
    library("CCurlSystem", pkgConfig: "libcurl", debian: ["libcurl4-openssl-dev"]),
    .target(name: "CCurl", dependencies: ["CCurlSystem"], path: "Sources/Platform/CCurl"),

    room("JSON", in: "Platform", sees: []),
    room("Locks", in: "Platform", sees: []),
    room("FailPoints", in: "Platform", sees: []),
    room("Crypto", in: "Platform", sees: ["COpenSSL", "JSON", "Locks"]),
    room("TimeZones", in: "Platform", sees: ["Locks"]),
    room("Reactor", in: "Platform", sees: ["CLinux", "Locks"]),
    room("Telemetry", in: "Platform", sees: ["JSON", "Locks", "TimeZones"]),
    room("Configuration", in: "Platform", sees: ["JSON", "TimeZones"]),
    room("CommandLine", in: "Platform", sees: ["JSON", "Locks"]),
    room("Postgres", in: "Platform", sees: ["CPostgres", "FailPoints", "Reactor", "TimeZones"]),
    room("PrivateCluster", in: "Platform", sees: ["CLinux", "Locks"]),
    room("HTTPServer", in: "Platform", sees: ["CLinux", "COpenSSL", "Locks", "Reactor"]),
    room("HTTPClient", in: "Platform", sees: ["CCurl", "CLinux", "Reactor"]),
]

// swift-format-ignore
let journeys: [Target] = [
    room("JourneyModel", in: "Journeys", sees: ["Crypto", "JSON", "TimeZones"]),
    room("WorkflowDefinitions", in: "Journeys", sees: ["Crypto", "JourneyModel", "JSON", "Templates", "TimeZones"], resources: [.embedInCode("Schemas")]),
    room("JourneyEngine", in: "Journeys", sees: ["Crypto", "JourneyModel", "JSON", "Templates", "TimeZones", "WorkflowDefinitions"]),
    room("Templates", in: "Journeys", sees: ["JSON"]),
    room("Connectors", in: "Journeys", sees: ["Crypto", "JourneyModel", "JSON", "Locks", "TimeZones"], resources: [.embedInCode("Providers")]),
    room("Settings", in: "Journeys", sees: ["Configuration", "Connectors", "Crypto", "JourneyModel", "JSON", "Postgres", "Telemetry", "TimeZones", "WorkflowDefinitions"]),
    room("WebhookIngest", in: "Journeys", sees: ["Connectors", "Crypto", "FailPoints", "HTTPServer", "JourneyModel", "JourneyStorage", "JSON", "Locks", "Postgres", "Reactor", "Telemetry", "TimeZones"]),
    room("EventIngest", in: "Journeys", sees: ["Crypto", "CZlib", "HTTPServer", "JourneyModel", "JourneyStorage", "JSON", "Locks", "Telemetry", "TimeZones"], resources: [.embedInCode("Resources")]),
    room("EffectDispatch", in: "Journeys", sees: ["Configuration", "Crypto", "FailPoints", "HTTPClient", "JourneyEngine", "JourneyModel", "JourneyStorage", "JSON", "Locks", "Reactor", "Settings", "Telemetry", "TimeZones", "WorkflowDefinitions"]),
    room("JourneyWorker", in: "Journeys", sees: ["Connectors", "Crypto", "EffectDispatch", "EventIngest", "FeatureModel", "FeatureReading", "HTTPClient", "HTTPServer", "JourneyEngine", "JourneyModel", "JourneyStorage", "JourneyTurns", "JSON", "Locks", "Postgres", "Reactor", "Settings", "Telemetry", "TimeZones", "WebhookIngest", "WorkflowDefinitions"]),
    room("JourneyTurns", in: "Journeys", sees: ["Connectors", "JourneyEngine", "JourneyModel", "JSON", "TimeZones", "WorkflowDefinitions"]),
    room("JourneyStorage", in: "Journeys", sees: ["FailPoints", "JourneyEngine", "JourneyModel", "JourneyTurns", "JSON", "Locks", "Postgres", "TimeZones", "WorkflowDefinitions"], resources: [.embedInCode("Migrations")]),
    room("RunReplay", in: "Journeys", sees: ["JourneyEngine", "JourneyModel", "JourneyTurns", "JSON", "TimeZones", "WorkflowDefinitions"]),
    room("WorkflowDrawings", in: "Journeys", sees: ["JourneyModel", "JSON", "TimeZones", "WorkflowDefinitions"]),
    room("Simulation", in: "Journeys", sees: ["JourneyEngine", "JourneyModel", "JourneyTurns", "JSON", "TimeZones", "WorkflowDefinitions"]),
]

// swift-format-ignore
let features: [Target] = [
    room("FeatureModel", in: "Features", sees: ["JSON"]),
    room("FeatureReading", in: "Features", sees: ["FeatureModel", "Postgres", "TimeZones"]),
    room("FeatureLedger", in: "Features", sees: ["Crypto", "FeatureModel", "JSON", "Locks", "Postgres", "Reactor", "TimeZones"], resources: [.embedInCode("Migrations")]),
    room("FeatureService", in: "Features", sees: ["Configuration", "Crypto", "FeatureLedger", "FeatureModel", "HTTPServer", "JSON", "Locks", "Postgres", "Reactor", "Telemetry", "TimeZones"]),
    room("Nuxie", in: "Features", sees: ["FeatureModel", "JSON"]),
]

// swift-format-ignore
let commands: [Target] = [
    command("journey-worker", sees: ["CommandLine", "Configuration", "Connectors", "Crypto", "HTTPServer", "JourneyModel", "JourneyStorage", "JourneyWorker", "JSON", "Locks", "Postgres", "PrivateCluster", "Reactor", "Settings", "Telemetry", "TimeZones", "WorkflowDefinitions"]),
    command("journey-replay", sees: ["CommandLine", "Configuration", "Connectors", "Crypto", "EffectDispatch", "FeatureModel", "FeatureReading", "JourneyEngine", "JourneyModel", "JourneyStorage", "JourneyTurns", "JSON", "Postgres", "PrivateCluster", "Reactor", "RunReplay", "Settings", "Simulation", "Templates", "TimeZones", "WorkflowDefinitions", "WorkflowDrawings"]),
    command("feature-server", sees: ["CommandLine", "Configuration", "Crypto", "FeatureLedger", "FeatureModel", "FeatureService", "JSON", "Postgres", "PrivateCluster", "Reactor", "Telemetry", "TimeZones"]),
    command("journey-bench", sees: ["CLinux", "CommandLine", "Configuration", "Crypto", "FeatureLedger", "FeatureModel", "FeatureService", "JourneyModel", "JourneyStorage", "JourneyWorker", "JSON", "Postgres", "PrivateCluster", "Reactor", "Settings", "Telemetry", "TimeZones", "WorkflowDefinitions"]),
]

// swift-format-ignore
let suites: [Target] = [
    tests("ArchitectureTests", sees: []),
    tests("LocksTests", in: "Platform", sees: ["Locks"]),
    tests("FailPointsTests", in: "Platform", sees: ["FailPoints"]),
    tests("JSONTests", in: "Platform", sees: ["JSON", "TestMaterial"]),
    tests("CryptoTests", in: "Platform", sees: ["Crypto", "JSON"]),
    tests("TimeZonesTests", in: "Platform", sees: ["JSON", "TestMaterial", "TimeZones"]),
    tests("ReactorTests", in: "Platform", sees: ["CLinux", "Locks", "Reactor"]),
    tests("TelemetryTests", in: "Platform", sees: ["JSON", "Locks", "Telemetry", "TimeZones"]),
    tests("ConfigurationTests", in: "Platform", sees: ["Configuration", "JSON", "TimeZones"]),
    tests("CommandLineTests", in: "Platform", sees: ["CommandLine", "JSON"]),
    tests("WorkflowDefinitionsTests", in: "Journeys", sees: ["Crypto", "JourneyModel", "JSON", "TestMaterial", "TimeZones", "WorkflowDefinitions"]),
    tests("PostgresTests", in: "Platform", sees: ["Postgres", "PrivateCluster", "Reactor", "TestSupport", "TimeZones"]),
    tests("PrivateClusterTests", in: "Platform", sees: ["PrivateCluster", "TestSupport"]),
    tests("HTTPServerTests", in: "Platform", sees: ["CLinux", "COpenSSL", "HTTPServer", "Locks", "Reactor", "TestMaterial"]),
    tests("HTTPClientTests", in: "Platform", sees: ["CLinux", "HTTPClient", "Locks", "Reactor"]),
    tests("JourneyModelTests", in: "Journeys", sees: ["JourneyModel", "JSON", "TimeZones"]),
    tests("FeatureModelTests", in: "Features", sees: ["FeatureModel", "JSON", "TestMaterial", "TestSupport"]),
    tests("FeatureReadingTests", in: "Features", sees: ["FeatureLedger", "FeatureModel", "FeatureReading", "Postgres", "Reactor", "TestSupport", "TimeZones"]),
    tests("FeatureLedgerTests", in: "Features", sees: ["FeatureLedger", "FeatureModel", "JSON", "Locks", "Postgres", "Reactor", "TestSupport", "TimeZones"]),
    tests("FeatureServiceTests", in: "Features", sees: ["Configuration", "Crypto", "FeatureLedger", "FeatureModel", "FeatureService", "HTTPServer", "JSON", "Postgres", "Reactor", "Telemetry", "TestMaterial", "TestSupport"]),
    tests("NuxieTests", in: "Features", sees: ["Configuration", "FeatureLedger", "FeatureModel", "FeatureService", "JSON", "Locks", "Nuxie", "Postgres", "Telemetry", "TestMaterial", "TestSupport", "TimeZones"]),
    tests("JourneyEngineTests", in: "Journeys", sees: ["JourneyEngine", "JourneyModel", "JSON", "TestMaterial", "TimeZones", "WorkflowDefinitions"]),
    tests("JourneyTurnsTests", in: "Journeys", sees: ["Connectors", "JourneyEngine", "JourneyModel", "JourneyTurns", "JSON", "RunReplay", "TestMaterial", "TimeZones", "WorkflowDefinitions"]),
    tests("RunReplayTests", in: "Journeys", sees: ["JourneyEngine", "JourneyModel", "JSON", "RunReplay", "Simulation", "TestMaterial", "TestModel", "TimeZones", "WorkflowDefinitions"]),
    tests("SimulationTests", in: "Journeys", sees: ["JourneyEngine", "JourneyModel", "JSON", "Simulation", "TestMaterial", "TestModel", "TimeZones", "WorkflowDefinitions"]),
    tests("WorkflowDrawingsTests", in: "Journeys", sees: ["JourneyModel", "JSON", "WorkflowDefinitions", "WorkflowDrawings"]),
    tests("TemplatesTests", in: "Journeys", sees: ["JSON", "Templates", "TestMaterial"]),
    tests("ConnectorsTests", in: "Journeys", sees: ["Connectors", "Crypto", "JourneyModel", "JSON", "TestMaterial", "TimeZones"]),
    tests("ConformanceTests", sees: ["Connectors", "Crypto", "JourneyEngine", "JourneyModel", "JSON", "TestMaterial", "TimeZones", "WorkflowDefinitions"]),
    tests("JourneyReplayTests", in: "Commands", sees: ["CommandLine", "Connectors", "Crypto", "journey-replay", "JourneyEngine", "JourneyModel", "JourneyStorage", "JourneyTurns", "JSON", "Locks", "Postgres", "PrivateCluster", "Reactor", "TestMaterial", "TestSupport", "TimeZones", "WorkflowDefinitions"]),
    tests("JourneyStorageTests", in: "Journeys", sees: ["Crypto", "JourneyEngine", "JourneyModel", "JourneyStorage", "JourneyTurns", "JSON", "Postgres", "Reactor", "TestSupport", "TimeZones", "WorkflowDefinitions"]),
    tests("JourneyBenchTests", in: "Commands", sees: ["journey-bench", "JSON", "TestMaterial", "TestSupport"]),
    tests("SettingsTests", in: "Journeys", sees: ["Configuration", "Connectors", "JourneyModel", "JSON", "Settings", "Telemetry", "TestMaterial", "TestSupport", "TimeZones", "WorkflowDefinitions"]),
    tests("WebhookIngestTests", in: "Journeys", sees: ["Connectors", "HTTPServer", "JourneyModel", "JourneyStorage", "JSON", "Locks", "Postgres", "Reactor", "Telemetry", "TestSupport", "TimeZones", "WebhookIngest"]),
    tests("EventIngestTests", in: "Journeys", sees: ["EventIngest", "HTTPServer", "JourneyModel", "JourneyStorage", "JSON", "Locks", "Telemetry", "TimeZones"]),
    tests("EffectDispatchTests", in: "Journeys", sees: ["Configuration", "Crypto", "EffectDispatch", "HTTPClient", "JourneyEngine", "JourneyModel", "JourneyStorage", "JSON", "Settings", "TimeZones", "WorkflowDefinitions"]),
    tests("JourneyWorkerTests", in: "Journeys", sees: ["HTTPServer", "JourneyWorker", "Telemetry"]),
    tests("EndToEndTests", sees: ["CLinux", "CommandLine", "Configuration", "Connectors", "Crypto", "feature-server", "FeatureLedger", "FeatureModel", "FeatureReading", "HTTPClient", "HTTPServer", "journey-replay", "journey-worker", "JourneyEngine", "JourneyModel", "JourneyStorage", "JourneyTurns", "JourneyWorker", "JSON", "Locks", "Postgres", "PrivateCluster", "Reactor", "Settings", "Telemetry", "TestMaterial", "TestModel", "TestSupport", "TimeZones", "WorkflowDefinitions"]),
    tests("WorldTests", sees: ["Connectors", "EffectDispatch", "JourneyEngine", "JourneyModel", "JourneyTurns", "JSON", "TestMaterial", "TestModel", "TimeZones", "WorkflowDefinitions"]),
    .target(
        name: "TestSupport",
        dependencies: ["Locks", "CLinux", "COpenSSL", "Crypto", "JSON", "Postgres", "PrivateCluster", "Reactor"],
        path: "Tests/TestSupport", swiftSettings: strict),
    .target(name: "TestMaterial", dependencies: ["Locks"], path: "Tests/TestMaterial", swiftSettings: strict),
    .target(
        name: "TestModel",
        dependencies: ["JSON", "JourneyEngine", "JourneyModel", "JourneyTurns", "TestMaterial", "TimeZones", "WorkflowDefinitions"],
        path: "Tests/TestModel", swiftSettings: strict),
]

/// `deploy/fuzz` alone builds this, with `FUZZ=1`: its `main` is libFuzzer's.
let fuzzing: [Target] =
    Context.environment["FUZZ"] == nil
    ? []
    : [
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "Connectors", "Crypto", "HTTPServer", "JourneyModel", "JSON", "TimeZones",
            ],
            path: "Tests/Fuzzing", swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
    ]

let every = platform + journeys + features + commands + suites + fuzzing

/// `SUITES=JSONTests,CryptoTests swift test` builds those suites with what they see, and no more: a
/// change in a room low in the house is tried in seconds. Without it everything is built.
let wanted = Context.environment["SUITES"].map { suites in
    reach(suites.split(separator: ",").map(String.init), within: every)
}

func reach(_ names: [String], within targets: [Target]) -> Set<String> {
    var reached: Set<String> = []
    var ahead = names
    while let name = ahead.popLast() {
        guard reached.insert(name).inserted else { continue }
        guard let target = targets.first(where: { $0.name == name }) else {
            fatalError("SUITES names \(name), which is no target of this package")
        }
        for case .byNameItem(let seen, _) in target.dependencies { ahead.append(seen) }
    }
    return reached
}

let package = Package(
    name: "nuxie-journey-worker",
    // What the SDK needs of Apple's platforms; the rest of the house is for Linux.
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .visionOS(.v1), .watchOS(.v10)],
    products: wanted?.contains("Nuxie") ?? true
        ? [.library(name: "Nuxie", targets: ["Nuxie"])] : [],
    targets: every.filter { wanted?.contains($0.name) ?? true },
    swiftLanguageModes: [.v6]
)
