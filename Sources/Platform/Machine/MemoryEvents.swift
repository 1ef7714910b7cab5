/// Out-of-memory kills in a control group, as counted by the kernel.
///
/// The file is `memory.events` of version 2 of control groups; see the kernel's documentation,
/// cgroup-v2, "Memory Interface Files".
package struct MemoryEvents: Sendable {
  /// The group's file.
  package let path: String

  /// The events in a group's file.
  package init(path: String) { self.path = path }

  /// Those of this process's group; nil if it has no such file.
  package static func ofThisProcess() -> MemoryEvents? {
    guard let groups = try? AtomicFile.read("/proc/self/cgroup") else { return nil }
    let lines = String(decoding: groups, as: UTF8.self).split(separator: "\n")
    guard let group = lines.first(where: { $0.hasPrefix("0::/") })?.dropFirst(3) else { return nil }
    let events = MemoryEvents(
      path: "/sys/fs/cgroup\(group == "/" ? "" : String(group))/memory.events")
    return events.kills == nil ? nil : events
  }

  /// Number of processes of the group killed so far; nil if the group is gone.
  package var kills: Int? {
    guard let text = try? AtomicFile.read(path) else { return nil }
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2, words[0] == "oom_kill" { return Int(words[1]) }
    }
    return nil
  }
}
