import ArgumentParser
import ObjectStore
import Replica
import SessionLog
import Sync
import Synchronization

/// `tidemark pull DIR`.
struct Pull: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Mirror sessions of the store into a folder, as plain .log and .json files.",
    discussion: """
      Files go to DIR/<device>/<day>/<session>. What is there already is not fetched again: an \
      append costs its suffix, an unchanged session nothing. Nothing is ever deleted there.
      """)

  @Argument(help: "The folder.")
  var folder: String
  @Argument(help: "Only these sessions.")
  var ids: [String] = []
  @OptionGroup var devices: DeviceOptions
  @Flag(help: "Also link attached files' logs below their original paths, DIR/<device>/names/.")
  var names = false
  @Flag(help: "Only say what would be fetched.")
  var dryRun = false
  @Option(help: "Sessions fetched at once, 1 to 64.")
  var transfers: Int?
  @Flag(help: "A summary as a JSON object.")
  var json = false

  func validate() throws {
    if let transfers, !(1...64).contains(transfers) {
      throw ValidationError("--transfers takes a number from 1 to 64.")
    }
  }

  func run() async throws {
    let place = try Workplace()
    let context = try place.context(transfers: transfers)
    let puller = Puller(context.store, into: folder, linksNames: names)
    let wanted = try ids.map(ShortenedID.init)
    let items = try await puller.plan(
      devices: try await devices.ids(own: place.device.deviceId, in: context.store)
    ) { id in wanted.isEmpty || wanted.contains { $0.matches(id) } }
    if dryRun {
      for item in items { Console.say("\(item.remote.session)  \(Console.size(item.missing))") }
      return
    }
    let failures = await fetch(items, puller, atOnce: context.transfers)
    let done = items.filter { failures[$0.remote.session] == nil }
    let bytes = done.reduce(0) { $0 + $1.missing }
    for (session, error) in failures.sorted(by: { $0.key < $1.key }) {
      Console.complain("\(session): \(error)")
    }
    if json {
      let summary = Summary(
        sessions: done.count, logBytes: bytes,
        failures: Dictionary(
          uniqueKeysWithValues: failures.map { ($0.key.description, "\($0.value)") }))
      Console.say(try Console.json(summary))
    } else if Console.outputIsTerminal {
      Console.say("fetched \(Console.size(bytes)) of log in \(done.count) sessions to \(folder)")
    }
    if !failures.isEmpty { throw ExitStatus.partial }
  }

  private struct Summary: Encodable {
    let sessions: Int
    let logBytes: Int64
    let failures: [String: String]
  }

  private func fetch(
    _ items: [Puller.Item], _ puller: Puller, atOnce limit: Int
  ) async -> [SessionID: any Error] {
    let progress = ProgressBar(total: items.reduce(0) { $0 + $1.missing })
    defer { progress.finish() }
    return await puller.execute(items, atOnce: limit) { progress.add($0) }
  }
}
