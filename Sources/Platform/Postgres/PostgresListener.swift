package import Reactor

/// Hears NOTIFY on a connection of its own, and says when it may have missed some.
///
/// Notifications only make readers faster: after each `.connected` the reader looks for itself, and it
/// polls all the same. It needs a direct connection, not one through pgbouncer.
package actor PostgresListener {
    /// What the reader hears of.
    package enum Event: Sendable, Hashable {
        /// The channels are heard from now on; what was sent before may be missed.
        case connected
        case notified(PostgresNotification)
    }

    /// For one reader. When the reader is slow the oldest events are dropped, never the last 256.
    package nonisolated let events: AsyncStream<Event>

    private nonisolated let loop: EventLoop
    private let settings: PostgresSettings
    private let channels: [String]
    private let output: AsyncStream<Event>.Continuation
    private let heartbeat: Duration

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - channels: names of `[a-z_0-9]`; traps on others.
    ///   - heartbeat: how often the connection is asked for a sign of life.
    package init(
        settings: PostgresSettings, channels: [String], loop: EventLoop,
        heartbeat: Duration = .seconds(30)
    ) {
        for channel in channels {
            precondition(
                !channel.isEmpty && channel.utf8.count <= 63
                    && channel.utf8.allSatisfy { $0 == 95 || (48...57 ~= $0) || (97...122 ~= $0) },
                "\(channel) is not a channel")
        }
        self.settings = settings
        self.channels = channels
        self.loop = loop
        self.heartbeat = heartbeat
        (events, output) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    /// Listens until its task is cancelled, connecting anew as often as needed; then `events` ends.
    package func run() async {
        var failures = 0
        while !Task.isCancelled {
            if await listen() { failures = 0 } else { failures += 1 }
            // From 100 ms, doubling up to 5 s, each between half and the whole.
            let most = min(5_000, 100 << min(failures, 6))
            let pause = Duration.milliseconds(Int.random(in: most / 2...most))
            do { try await loop.sleep(for: pause) } catch { break }
        }
        output.finish()
    }

    /// One connection's life; false when it never listened.
    private func listen() async -> Bool {
        let output = output
        let connection: PostgresConnection
        do throws(PostgresError) {
            connection = try await PostgresConnection.connect(settings, on: loop) {
                output.yield(.notified($0))
            }
        } catch {
            // Told by the missing `.connected`; the reader polls meanwhile.
            return false
        }
        do throws(PostgresError) {
            for channel in channels {
                let listen = SQLStatement(
                    named: "listen", "listen \(channel)", isPrepared: false)
                _ = try await connection.query(listen)
            }
        } catch {
            await connection.close()
            return false
        }
        output.yield(.connected)
        await watch(connection)
        await connection.close()
        return true
    }

    private func watch(_ connection: PostgresConnection) async {
        let beat = SQLStatement(named: "listen_heartbeat", "select 1", isPrepared: false)
        await withTaskGroup(of: Void.self) { [loop, heartbeat] group in
            group.addTask { await connection.waitUntilClosed() }
            group.addTask {
                // Ends with the first failure, be it the connection's or the task's cancellation.
                while (try? await loop.sleep(for: heartbeat)) != nil,
                    (try? await connection.query(beat)) != nil
                {}
            }
            await group.next()
            group.cancelAll()
        }
    }
}
