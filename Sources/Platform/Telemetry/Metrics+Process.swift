internal import Glibc

extension Metrics {
    /// Adds `process_resident_memory_bytes` and `process_open_fds`, read from `/proc` when asked.
    package func addProcessGauges() {
        gauge("process_resident_memory_bytes", help: "Memory of this process in RAM, in bytes.") {
            residentBytes().map { [Reading(Double($0))] } ?? []
        }
        gauge("process_open_fds", help: "File descriptors this process has open.") {
            openDescriptors().map { [Reading(Double($0))] } ?? []
        }
    }
}

/// The second number of `/proc/self/statm`, in pages.
private func residentBytes() -> Int? {
    let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return nil }
    let words = String(decoding: bytes[..<count], as: UTF8.self).split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { return nil }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
}

private func openDescriptors() -> Int? {
    guard let directory = opendir("/proc/self/fd") else { return nil }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    // Without `.`, `..` and the directory that is being read.
    return max(0, count - 3)
}
