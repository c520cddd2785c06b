internal import JourneyStorage
internal import Postgres
internal import Reactor

/// Carries wake-ups between processes: what this one cannot do itself it tells others, and it hears
/// what others tell. Polling alone is correct; this only makes it prompt.
struct WakeRelay: Sendable {
    /// Notifications of one channel are at least this far apart.
    private static let pause = Duration.milliseconds(10)

    private let store: WakeStore
    private let listener: PostgresListener
    private let loop: EventLoop
    private let isStopping: @Sendable () -> Bool
    /// Raised to tell other processes; one signal for each channel.
    private let outgoing: [WakeStore.Channel: WakeSignal]

    init(
        pool: PostgresPool, direct: PostgresSettings, loop: EventLoop,
        isStopping: @escaping @Sendable () -> Bool
    ) {
        store = WakeStore(pool: pool)
        listener = PostgresListener(
            settings: direct, channels: WakeStore.Channel.allCases.map(\.rawValue), loop: loop)
        self.loop = loop
        self.isStopping = isStopping
        outgoing = Dictionary(
            uniqueKeysWithValues: WakeStore.Channel.allCases.map {
                ($0, WakeSignal(loop: loop))
            })
    }

    /// Has other processes told, soon and once for many calls.
    func tell(_ channel: WakeStore.Channel) { outgoing[channel]?.raise() }

    /// Has every ``send(_:)`` look whether the service stops.
    func wakeAll() { for signal in outgoing.values { signal.raise() } }

    /// Sends what ``tell(_:)`` asked for until the service stops.
    func send(_ channel: WakeStore.Channel) async {
        guard let signal = outgoing[channel] else { return }
        while !isStopping() {
            guard await signal.wait(atMost: .seconds(1)), !isStopping() else { continue }
            // A notification that is not sent is made up for by the others' polling.
            try? await store.notify(channel)
            try? await loop.sleep(for: Self.pause)
        }
    }

    /// Raises a signal of this process whenever its channel is heard, or may have been missed, until
    /// the task is cancelled.
    func hear(_ signals: [WakeStore.Channel: WakeSignal]) async {
        let listening = Task(executorPreference: loop.tasks) { await listener.run() }
        await withTaskCancellationHandler {
            for await event in listener.events {
                switch event {
                case .connected: for signal in signals.values { signal.raise() }
                case .notified(let notification):
                    WakeStore.Channel(rawValue: notification.channel)
                        .flatMap { signals[$0] }?.raise()
                }
            }
        } onCancel: {
            listening.cancel()
        }
        listening.cancel()
        await listening.value
    }
}
