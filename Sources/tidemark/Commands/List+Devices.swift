import Fleet
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading

/// `list --summary` and `list --tree`.
extension List {
  /// Prints one line per device.
  func showDevices(_ setup: CommandContext) async throws {
    let context = try setup.reading(.remote)
    guard let store = context.store else { return }
    let wanted = Set(try await choice.devices.ids(own: setup.device, in: store))
    let records = try await DeviceRecord.all(in: store).filter { wanted.contains($0.deviceId) }
    let now = Timestamp.now()
    let found = try await DeviceSummary.read(
      records, in: store, knowing: context.keys, now: now
    )
    .sorted { ($0.deviceName, $0.deviceId) < ($1.deviceName, $1.deviceId) }
    if json {
      for one in found { Console.say(try Console.json(one)) }
    } else if found.isEmpty {
      Console.remark("no devices in the store")
    } else {
      Console.show(Self.table(found, now))
    }
    try Self.throwRejected(found.flatMap(\.rejected))
  }

  /// The table of devices.
  static func table(_ devices: [DeviceSummary], _ now: Timestamp) -> Table {
    var table = Table([
      .init(name: "device", least: 8), .init(name: "seen", isRight: true),
      .init(name: "open", isRight: true, rank: 3), .init(name: "waiting", isRight: true, rank: 2),
      .init(name: "crashes", isRight: true), .init(name: "errors", isRight: true, rank: 1),
      .init(name: "version", least: 8, rank: 4),
    ])
    let names = Dictionary(grouping: devices, by: \.deviceName)
    for one in devices {
      table.add(cells(one, isNameTaken: names[one.deviceName]?.count != 1, now))
    }
    return table
  }

  /// - Parameter isNameTaken: whether another device has the same name; then the id is shown.
  private static func cells(
    _ one: DeviceSummary, isNameTaken: Bool, _ now: Timestamp
  ) -> [Table.Cell] {
    let name = isNameTaken ? "\(one.deviceName) \(one.deviceId)" : one.deviceName
    let version = [one.app, one.version].compactMap(\.self).joined(separator: " ")
    return [
      .init(name), .init(one.lastSeen.map { "\(Age.compact(now - $0)) ago" } ?? "-"),
      .init(String(one.openSessions)), .init(one.waitingBytes.text),
      .init(String(one.crashes), colour: one.crashes > 0 ? .red : nil),
      .init(String(one.errors), colour: one.errors > 0 ? .yellow : nil), .init(version),
    ]
  }

  /// Prints sessions grouped by user and device.
  func showTree(
    _ entries: [SessionCatalog.Entry], in catalog: SessionCatalog, _ view: ListColumn.View
  ) async throws {
    let tree = SessionTree(entries)
    if json {
      for branch in tree.branches {
        for entry in branch.devices.flatMap(\.entries) {
          var line = Line(entry, view)
          line.path = [branch.name, entry.sidecar.deviceId, entry.session.description]
          Console.say(try Console.json(line))
        }
      }
      return
    }
    let table = Self.table(entries, columns ?? Self.treeColumns, view)
    let omitted = try await tree.print(
      table, width: Console.width, Console.say(painted:)
    ) { entry in
      guard let lines, lines > 0 else { return [] }
      do {
        return try await lastLines(lines, of: entry, in: catalog)
      } catch let error as CancellationError {
        throw error
      } catch {
        return ["(\(error))"]
      }
    }
    Console.remark(omitted: omitted, choosesColumns: true)
  }

  static let treeColumns: [ListColumn] = [
    .session, .start, .duration, .status, .size, .app, .note,
  ]

  private func lastLines(
    _ count: Int, of entry: SessionCatalog.Entry, in catalog: SessionCatalog
  ) async throws -> [String] {
    var found: [String] = []
    let reader = try side.reader(of: entry, in: catalog)
    let choice = RecordChoice(RecordFilter(), lastLines: count)
    _ = try await reader.readLines(choice, .ranged) { line in
      found.append(String(decoding: line.text.prefix(1024), as: UTF8.self))
    }
    return found
  }
}
