import Glibc
import Reactor
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SignalWatchTests {
    @Test func `a signal sent to the process arrives in the stream`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let watch = SignalWatch([SIGUSR1])
            let loop = EventLoop()
            let signals = watch.signals(on: loop)
            // To the loop's thread, which inherited the mask; threads from before did not.
            loop.onLoop { pthread_kill(pthread_self(), SIGUSR1) }
            var iterator = signals.makeAsyncIterator()
            if await iterator.next() == SIGUSR1 { exit(7) }
        }
    }
}
