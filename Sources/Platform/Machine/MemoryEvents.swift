/// What the kernel tells of kills for want of memory in a control group.
///
/// The file is `memory.events` of the second version of control groups; see the kernel's
/// documentation, cgroup-v2, "Memory Interface Files".
package struct MemoryEvents: Sendable {
  /// The group's file.
  package let path: String

  /// The events of the group whose file this is.
  package init(path: String) { self.path = path }

  /// This process's group; nil where there is none that tells.
  package static func ofThisProcess() -> MemoryEvents? {
    guard let groups = try? AtomicFile.read("/proc/self/cgroup") else { return nil }
    let lines = String(decoding: groups, as: UTF8.self).split(separator: "\n")
    guard let group = lines.first(where: { $0.hasPrefix("0::/") })?.dropFirst(3) else { return nil }
    let events = MemoryEvents(
      path: "/sys/fs/cgroup\(group == "/" ? "" : String(group))/memory.events")
    return events.kills == nil ? nil : events
  }

  /// How many processes of the group were killed so far; nil where the group is gone.
  package var kills: Int? {
    guard let text = try? AtomicFile.read(path) else { return nil }
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2, words[0] == "oom_kill" { return Int(words[1]) }
    }
    return nil
  }
}
