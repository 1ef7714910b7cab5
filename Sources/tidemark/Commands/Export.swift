import ArgumentParser
import Foundation
import SessionLog
import Sync

/// `tidemark export ID…`.
struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write sessions as text files with a header that says where they come from.",
    discussion: """
      The local log is taken where it is complete, else the store's. A file appears under its \
      name only when it is whole, or when --salvage passed over what is missing: exit code 65.
      """)

  @Argument(help: "The sessions.")
  var ids: [String]
  @Option(name: .shortAndLong, help: "A folder, or - for standard output.")
  var output: String
  @OptionGroup var side: SideOptions
  @OptionGroup var records: RecordOptions

  @OptionGroup var owner: UserOptions

  func validate() throws {
    if ids.isEmpty {
      throw ValidationError("Name at least one session; 'tidemark list' shows them.")
    }
  }

  func run() async throws {
    let place = try owner.workplace()
    let (catalog, context) = try side.catalog(place)
    let choice = try records.choice()
    let devices = try await DeviceRecord.ids(in: context?.store, first: place.device.deviceId)
    let texts = try await catalog.entries(matching: ids, devices: devices).map {
      try SessionText($0, side: side, context: context, catalog: catalog)
    }
    guard output != "-" else {
      var isWhole = true
      for text in texts {
        Console.write(Array(Self.header(text.entry.sidecar).utf8))
        let isThisWhole = try await text.read(choice) { Console.show($0) }
        isWhole = isWhole && isThisWhole
      }
      if !isWhole { throw ExitStatus.integrity }
      return
    }
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
    let folder = output
    let isWhole = try await withThrowingTaskGroup(of: (String, Bool).self) { group in
      var isWhole = true
      func note(_ path: String, _ isThisWhole: Bool) {
        Console.remark("wrote \(path)")
        isWhole = isWhole && isThisWhole
      }
      for (index, text) in texts.enumerated() {
        if index >= place.settings.transfers, let (path, isThisWhole) = try await group.next() {
          note(path, isThisWhole)
        }
        group.addTask { try await Self.write(text, choice, in: folder) }
      }
      for try await (path, isThisWhole) in group { note(path, isThisWhole) }
      return isWhole
    }
    if !isWhole { throw ExitStatus.integrity }
  }

  /// - Returns: the file, and whether nothing had to be passed over.
  private static func write(
    _ text: SessionText, _ choice: RecordChoice, in folder: String
  ) async throws -> (String, Bool) {
    let sidecar = text.entry.sidecar
    let path = "\(folder)/\(sidecar.sessionId).txt"
    let partial = "\(folder)/.\(sidecar.sessionId).partial"
    guard FileManager.default.createFile(atPath: partial, contents: Data(header(sidecar).utf8)),
      let file = FileHandle(forWritingAtPath: partial)
    else {
      throw Failure(.configuration, "cannot write in \(folder); choose another folder with -o")
    }
    let isWhole: Bool
    do {
      try file.seekToEnd()
      var pending = Data()
      isWhole = try await text.read(choice) { bytes in
        pending.append(contentsOf: bytes)
        guard pending.count >= 1 << 20 else { return }
        try file.write(contentsOf: pending)
        pending.removeAll(keepingCapacity: true)
      }
      try file.write(contentsOf: pending)
      try file.synchronize()
      try file.close()
      guard rename(partial, path) == 0 else {
        throw SystemError(operation: "rename", path: partial, errno: errno)
      }
    } catch {
      unlink(partial)
      throw error
    }
    return (path, isWhole)
  }

  static func header(_ sidecar: Sidecar) -> String {
    let cause = sidecar.cause.map { " (\($0))" } ?? ""
    let fields: [(String, String)] = [
      ("Device", "\(sidecar.deviceName) (\(sidecar.deviceId))"),
      ("Model", sidecar.deviceModel ?? "unknown"), ("OS", sidecar.osVersion),
      ("App", sidecar.appName), ("App version", sidecar.appVersion ?? "unknown"),
      ("Build number", sidecar.buildNumber ?? "unknown"), ("User", sidecar.userId),
      ("Session", sidecar.sessionId.description), ("Started", sidecar.startedAt.description),
      ("Ended", sidecar.endedAt?.description ?? "-"),
      ("Status", sidecar.status.rawValue + cause),
    ]
    let lines = fields.map { "\($0): \(Console.harmless($1.utf8).replacing("\n", with: " "))\n" }
    return "=== Device Info ===\n" + lines.joined() + "=== Log ===\n"
  }
}
