import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The path of a program's core dump, according to core(5).
struct CoreFile {
  private let pattern: String

  /// Uses the machine's pattern by default.
  init(pattern: String? = nil) {
    let own = (try? AtomicFile.read("/proc/sys/kernel/core_pattern")).map {
      String(decoding: $0.prefix { $0 != 0x0a }, as: UTF8.self)
    }
    self.pattern = pattern ?? own ?? "core"
  }

  /// The file, or the command that shows it, for a person.
  ///
  /// - Parameters:
  ///   - process: the program's process id.
  ///   - folder: its working directory, as far as known.
  func place(of process: pid_t, in folder: String) -> String {
    if pattern.hasPrefix("|") {
      let handler = pattern.dropFirst().prefix { $0 != " " }.split(separator: "/").last ?? ""
      return handler == "systemd-coredump"
        ? "coredumpctl info \(process)" : "given to \(pattern.dropFirst().prefix { $0 != " " })"
    }
    let name = pattern.replacing("%p", with: "\(process)").replacing("%P", with: "\(process)")
    let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
    let withNumber = "\(path).\(process)"
    // With core_uses_pid, the number follows a name without one.
    return !pattern.contains("%p") && access(withNumber, F_OK) == 0 ? withNumber : path
  }
}
