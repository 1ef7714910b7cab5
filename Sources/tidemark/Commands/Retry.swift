import ArgumentParser
import SessionReading
import Sync

/// `tidemark retry`.
struct Retry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Let the next upload try again at once what failed and waits.",
    discussion: """
      Without sessions all that wait are released, and the store too when it is left alone for a \
      while because it could not be reached or refused us. A session whose remote copy was deleted is \
      uploaded again only when it is named. 'tidemark status' lists what waits and why.
      """)

  @Argument(help: "The sessions; by default all that wait.")
  var ids: [String] = []

  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func run() async throws {
    let place = try owner.workplace(diagnostics.logger())
    let lock = try place.requireLock()
    let uploader = Uploader(try place.context())
    let waiting = try uploader.waiting()
    var released = waiting.sessions
    if ids.isEmpty {
      if let error = waiting.store?.lastError { Console.say("released the store: \(error)") }
      try uploader.retryStore(holding: lock)
    } else {
      let wanted = try ids.map(ShortenedID.init)
      for (given, id) in zip(ids, wanted)
      where !released.contains(where: { id.matches($0.session) })
        && !waiting.withdrawn.contains(where: { id.matches($0) })
      {
        throw Failure(.usage, "no session '\(given)' waits; see 'tidemark status'")
      }
      released = released.filter { one in wanted.contains { $0.matches(one.session) } }
      for session in waiting.withdrawn where wanted.contains(where: { $0.matches(session) }) {
        try uploader.retry(session, holding: lock)
        Console.say("released \(session): uploaded again although its remote copy was deleted")
      }
    }
    for one in released {
      try uploader.retry(one.session, holding: lock)
      Console.say("released \(one.session): \(one.reason)")
    }
    if released.isEmpty && waiting.store == nil { Console.remark("nothing waits") }
  }
}
