import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where the memory of a program that died was written to, as core(5) has it.
struct CoreFile {
  private let pattern: String

  /// What the machine does with them by default.
  init(pattern: String? = nil) {
    let own = (try? AtomicFile.read("/proc/sys/kernel/core_pattern")).map {
      String(decoding: $0.prefix { $0 != 0x0a }, as: UTF8.self)
    }
    self.pattern = pattern ?? own ?? "core"
  }

  /// The file, or what to ask for it, for a person.
  ///
  /// - Parameters:
  ///   - process: the program's process id.
  ///   - folder: the folder that it ran in, as far as we know.
  func place(of process: pid_t, in folder: String) -> String {
    if pattern.hasPrefix("|") {
      let handler = pattern.dropFirst().prefix { $0 != " " }.split(separator: "/").last ?? ""
      return handler == "systemd-coredump"
        ? "coredumpctl info \(process)" : "given to \(pattern.dropFirst().prefix { $0 != " " })"
    }
    let name = pattern.replacing("%p", with: "\(process)").replacing("%P", with: "\(process)")
    let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
    let withNumber = "\(path).\(process)"
    // With core_uses_pid the number comes after a name without one.
    return !pattern.contains("%p") && access(withNumber, F_OK) == 0 ? withNumber : path
  }
}
