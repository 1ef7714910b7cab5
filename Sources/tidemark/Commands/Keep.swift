import ArgumentParser
import Platform
import Replica
import SessionLog
import SessionReading
import Sync

/// `tidemark keep ID…`.
struct Keep: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keep",
    abstract: "Keep sessions beyond their retention, on this machine and in the store.",
    discussion: """
      For the crash that is being investigated: until the hold ends, neither age nor 'local-max' \
      deletes the session's local copy here or its copy in the store, whoever runs the reaper. \
      Lifecycle rules of a bucket do not know of it. A new hold replaces an earlier one. A \
      session that is not in the store yet is held there once it is sealed. \
      With --json: session, until, local, remote.
      """)

  @Argument(help: "The sessions.")
  var ids: [String]
  @Option(name: .customLong("for"), help: "How long: 90d, 4w; at most ten years.")
  var duration = "90d"
  @Flag(help: "End the hold.")
  var release = false
  @Flag(help: "One JSON object a line.")
  var json = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    guard let age = Age.parse(duration), age > .zero, age <= Holds.longest else {
      throw ValidationError("--for takes a time such as 90d or 4w, at most 3650d.")
    }
  }

  private struct Result: Encodable {
    let session: SessionID
    let until: Timestamp?
    let local: Bool
    let remote: Bool
  }

  func run() async throws {
    let place = try owner.workplace(diagnostics.logger())
    let lock = try place.requireLock()
    let context = try place.contextIfSending()
    let catalog = SessionCatalog(place.reading(with: context))
    let entries = try await catalog.entries(matching: ids, devices: catalog.devices(for: ids))
    let lived = try place.lived(context)
    let holds = Holds(place.home)
    var isWhole = true
    for entry in entries {
      if release {
        let isLocal = try holds.release(entry.session, holding: lock)
        var isRemote = false
        if let context, let remote = entry.remote {
          isRemote = try await RemoteHold(context).release(remote)
        }
        if json {
          Console.say(
            try Console.json(
              Result(session: entry.session, until: nil, local: isLocal, remote: isRemote)))
        } else {
          let text = isLocal || isRemote ? "is no longer kept" : "was not kept"
          Console.say("\(entry.session)  \(text)")
        }
        continue
      }
      let hold = try holds.keep(
        entry.session, for: Age.parse(duration) ?? .zero, lived, holding: lock)
      var isRemote = context != nil && entry.remote != nil
      if let context, let remote = entry.remote {
        do {
          try await RemoteHold(context).keep(remote, for: Age.parse(duration) ?? .zero)
        } catch let error as ReplicaError {
          Console.complain("\(error)")
          (isRemote, isWhole) = (false, false)
        }
      }
      if json {
        Console.say(
          try Console.json(
            Result(
              session: entry.session, until: hold.until, local: entry.location != .remote,
              remote: isRemote)))
      } else {
        let sides = [entry.location == .remote ? nil : "here", isRemote ? "in the store" : nil]
        let text = sides.compactMap(\.self).joined(separator: " and ")
        let later =
          context != nil && entry.remote == nil
          ? ", and in the store once it is sealed" : ""
        Console.say("\(entry.session)  is kept \(text) until \(hold.until.day)\(later)")
      }
    }
    try lived.save(holding: lock)
    if !isWhole { throw ExitStatus.partial }
  }
}
