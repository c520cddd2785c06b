internal import Foundation

/// The SDK: may this customer use this feature, and how much of it?
///
/// Set it up once, early:
///
/// ```swift
/// try NuxieSDK.shared.setup(
///     with: NuxieConfiguration(apiKey: "pk_live_…", apiEndpoint: "https://app.example.com"))
/// NuxieSDK.shared.identify("customer-123")
/// ```
public final class NuxieSDK: Sendable {
    /// The one that apps use.
    public static let shared = NuxieSDK()

    private struct Running {
        let core: NuxieCore
        let task: Task<Void, Never>
        let close: @Sendable () -> Void
    }

    private struct WeakDelegate: Sendable {
        weak var value: (any NuxieDelegate)?
    }

    /// The customer's access, to be observed. The same object for as long as the process lives.
    public let features = ObservedFeatures()

    private let running = Locked<Running?>(nil)
    private let heldDelegate = Locked(WeakDelegate())
    /// Generations and revisions go on over setups, so that nothing old is ever shown again.
    private let latest = Locked<(setup: Int, generation: Int, revision: Int)>((0, -1, 0))

    init() {}

    /// Hears of changes of access. Kept weakly: keep the observer yourself for as long as it should hear.
    public var delegate: (any NuxieDelegate)? {
        get { heldDelegate.withLock { $0.value } }
        set { heldDelegate.withLock { $0 = WeakDelegate(value: newValue) } }
    }

    // MARK: Setup

    /// Starts the SDK; a second setup changes nothing.
    ///
    /// - Throws: ``NuxieError`` when the configuration or the storage folder cannot be used.
    public func setup(with configuration: NuxieConfiguration) throws(NuxieError) {
        let transport = URLSessionTransport()
        let start = ContinuousClock.now
        #if canImport(StoreKit)
            let store: any PurchaseStore = AppStore()
        #else
            let store: any PurchaseStore = NoStore()
        #endif
        let surroundings = Surroundings(
            wallClock: { Int64((Date().timeIntervalSince1970 * 1_000).rounded()) },
            uptime: { (ContinuousClock.now - start).wholeMilliseconds },
            sleep: { try await Task.sleep(for: .milliseconds($0)) },
            random: { Double.random(in: 0..<1) },
            transport: transport, store: store,
            journal: { folder, log throws(NuxieError) in
                try FileJournal(folder: folder, log: log)
            })
        try setup(with: configuration, surroundings: surroundings) { transport.close() }
    }

    func setup(
        with configuration: NuxieConfiguration, surroundings: Surroundings,
        close: @escaping @Sendable () -> Void = {}
    ) throws(NuxieError) {
        try configuration.check()
        try running.withLock { running throws(NuxieError) in
            if let running {
                running.core.log.log(.warning, "The SDK is set up already; the first setup stays.")
                close()
                return
            }
            let begun = latest.withLock { latest in
                latest.setup += 1
                latest.generation += 1
                latest.revision += 1
                return latest
            }
            let core = try NuxieCore(
                configuration, surroundings: surroundings,
                folder: configuration.storageFolder ?? Self.defaultFolder(configuration.apiKey),
                generation: begun.generation, revision: begun.revision,
                isWatched: { [self] in
                    await MainActor.run { features.isWatched } || delegate != nil
                },
                publish: { [self] snapshot in publish(snapshot, of: begun.setup) })
            running = Running(core: core, task: Task { await core.run() }, close: close)
        }
    }

    /// Stops the SDK; what was not sent yet is sent after the next setup.
    public func shutdown() async {
        let stopped = running.withLock { running in
            let stopped = running
            running = nil
            return stopped
        }
        stopped?.task.cancel()
        await stopped?.task.value
        stopped?.close()
    }

    /// Whether the SDK is set up.
    public var isSetup: Bool { running.withLock { $0 != nil } }

    private func publish(_ snapshot: FeatureSnapshot, of setup: Int) {
        let isCurrent = latest.withLock { latest in
            guard latest.setup == setup else { return false }
            latest.generation = max(latest.generation, snapshot.identityGeneration)
            latest.revision = max(latest.revision, snapshot.revision)
            return true
        }
        guard isCurrent else { return }
        Task { @MainActor in features.show(snapshot, to: delegate) }
    }

    /// Where an app keeps what it has to keep.
    private static func defaultFolder(_ apiKey: String) -> String {
        let name = "nuxie/" + String(Checksum.crc32(apiKey.utf8), radix: 16)
        #if os(Linux)
            let environment = ProcessInfo.processInfo.environment
            let home = environment["HOME"] ?? "/tmp"
            return (environment["XDG_DATA_HOME"] ?? home + "/.local/share") + "/" + name
        #else
            let place = FileManager.default.urls(
                for: .applicationSupportDirectory, in: .userDomainMask
            ).first
            return (place?.path ?? NSTemporaryDirectory()) + "/" + name
        #endif
    }

    func core() throws(NuxieError) -> NuxieCore {
        guard let core = running.withLock({ $0?.core }) else { throw .notConfigured }
        return core
    }

    // MARK: Who uses the app

    /// The customer who is here now. The same id changes nothing; another one raises
    /// `features.snapshot.identityGeneration`, and calls that wait end with ``NuxieError/Code/identityChanged``.
    ///
    /// - Throws: ``NuxieError`` when the SDK is not set up or the id is empty, has blanks at its ends or
    ///   more than 256 characters.
    public func identify(_ distinctId: String) throws(NuxieError) {
        let core = try core()
        try Arguments.checkKey(distinctId, "distinctId")
        core.change { Identity(identified: distinctId, anonymous: $0.anonymous) }
    }

    /// Nobody is here any more: the SDK goes on under a new anonymous id.
    public func reset() throws(NuxieError) {
        let core = try core()
        let id = makeID(at: core.surroundings.wallClock())
        core.change { _ in Identity(identified: nil, anonymous: id) }
    }

    /// The id that the customer has now: told by ``identify(_:)``, else made up. Empty before setup.
    public var distinctId: String {
        running.withLock { $0?.core }?.identity.withLock { $0.customer } ?? ""
    }

    /// Whether the customer was told by ``identify(_:)``.
    public var isIdentified: Bool {
        running.withLock { $0?.core }?.identity.withLock { $0.identified != nil } ?? false
    }

    /// Asks the server for the customer's access soon, such as when the app comes to the foreground. What it
    /// answers is published in ``features``.
    public func refresh() throws(NuxieError) {
        let core = try core()
        core.retryRetained()
        core.refresh()
    }
}
