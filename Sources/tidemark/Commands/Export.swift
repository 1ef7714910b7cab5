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
      name only when it is whole.
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
    let filter = try records.filter()
    let devices = try await DeviceRecord.ids(in: context?.store, first: place.device.deviceId)
    let texts = try await catalog.entries(matching: ids, devices: devices).map {
      try SessionText($0, side: side, context: context, catalog: catalog)
    }
    guard output != "-" else {
      for text in texts {
        Console.write(Array(Self.header(text.entry.sidecar).utf8))
        try await text.read(filter) { Console.show($0) }
      }
      return
    }
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
    let folder = output
    try await withThrowingTaskGroup(of: String.self) { group in
      for (index, text) in texts.enumerated() {
        if index >= place.settings.transfers, let path = try await group.next() {
          Console.remark("wrote \(path)")
        }
        group.addTask { try await Self.write(text, filter, in: folder) }
      }
      for try await path in group { Console.remark("wrote \(path)") }
    }
  }

  private static func write(
    _ text: SessionText, _ filter: RecordFilter, in folder: String
  ) async throws -> String {
    let sidecar = text.entry.sidecar
    let path = "\(folder)/\(sidecar.sessionId).txt"
    let partial = "\(folder)/.\(sidecar.sessionId).partial"
    guard FileManager.default.createFile(atPath: partial, contents: Data(header(sidecar).utf8)),
      let file = FileHandle(forWritingAtPath: partial)
    else {
      throw Failure(.configuration, "cannot write in \(folder); choose another folder with -o")
    }
    do {
      try file.seekToEnd()
      var pending = Data()
      try await text.read(filter) { bytes in
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
    return path
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
