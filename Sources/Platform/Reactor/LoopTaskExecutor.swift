/// Runs a task's nonisolated code on a loop: `Task(executorPreference: loop.tasks)`.
///
/// A second object, since one that is both kinds of executor makes every actor call hop.
package final class LoopTaskExecutor: TaskExecutor {
    private let loop: EventLoop

    init(loop: EventLoop) { self.loop = loop }

    package func enqueue(_ job: consuming ExecutorJob) {
        loop.put(UnownedJob(job), isTask: true)
    }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }
}
