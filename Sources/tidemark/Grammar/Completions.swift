import ArgumentParser
import Foundation
import Platform
import SessionLog

/// Completes ids of sessions on this machine, without querying the store.
enum SessionCompletion {
  /// The newest ids, complete and as their last part.
  static let ids: @Sendable ([String], Int, String) -> [String] = { _, _, prefix in
    let home = Home.locate(environment: ProcessInfo.processInfo.environment)
    let days = (try? home.days().sorted(by: >)) ?? []
    var found: [String] = []
    for day in days where found.count < most {
      let sessions = (try? home.sessions(day: day)) ?? []
      for session in sessions.sorted(by: >) {
        let whole = session.description
        let short = whole.split(separator: "-").last.map(String.init) ?? whole
        found += [whole, short].filter { !prefix.isEmpty ? $0.hasPrefix(prefix) : $0 == whole }
      }
    }
    return Array(found.prefix(most))
  }

  /// Maximum number of ids offered.
  private static let most = 200
}

/// Completes the words after `run --`.
enum ProgramCompletion {
  /// For the first word programs in `PATH`, or files if it contains a slash; then files.
  static let words: @Sendable ([String], Int, String) -> [String] = { words, index, prefix in
    let start =
      words.firstIndex(of: "--").map { $0 + 1 } ?? words.firstIndex(of: "run").map { $0 + 1 }
    let isProgram = start.map { index <= $0 } ?? true
    let found = isProgram && !prefix.contains("/") ? programs(prefix) : files(prefix)
    // bash expands the list, and inserts a choice without quoting it.
    return CompletionShell.requesting == .bash ? found.filter(isPlain) : found
  }

  /// Whether a shell takes a name as it is.
  private static func isPlain(_ name: String) -> Bool {
    name.unicodeScalars.allSatisfy { scalar in
      scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        || "/._-+,:@%=".unicodeScalars.contains(scalar)
    }
  }

  private static func programs(_ prefix: String) -> [String] {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    var found: Set<String> = []
    for folder in path.split(separator: ":") {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: String(folder))) ?? []
      found.formUnion(names.filter { $0.hasPrefix(prefix) })
    }
    return found.sorted()
  }

  private static func files(_ prefix: String) -> [String] {
    let end = prefix.lastIndex(of: "/").map { prefix.index(after: $0) } ?? prefix.startIndex
    let folder = String(prefix[..<end])
    let names =
      (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
    return names.filter {
      $0.hasPrefix(prefix[end...]) && ($0.first != "." || end != prefix.endIndex)
    }
    .sorted().map { name in
      var isFolder: ObjCBool = false
      let path = folder + name
      _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      return isFolder.boolValue ? path + "/" : path
    }
  }
}
