/// Makes a missing folder once, however many objects wait for it, and keeps large ones from being
/// sent for nothing into one that may be missing.
actor FolderMaker {
  private var underWay: [String: Task<Void, any Error>] = [:]
  /// Folders that a listing did not find.
  private var missing: Set<String> = []
  /// Folders that took something.
  private var known: Set<String> = []
  /// Folders into which one large body goes ahead, with the others that wait for it.
  private var tried: [String: [CheckedContinuation<Void, Never>]] = [:]

  /// Waits for a folder that somebody is making, else makes it.
  ///
  /// - Throws: what `work` throws, for everyone who waits.
  func make(_ url: String, _ work: @escaping @Sendable () async throws -> Void) async throws {
    if let task = underWay[url] { return try await task.value }
    let task = Task { try await work() }
    underWay[url] = task
    defer { underWay[url] = nil }
    try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
    missing.remove(url)
  }

  /// Notes that a listing did not find a folder.
  func noteMissing(_ url: String) {
    if !known.contains(url) { missing.insert(url) }
  }

  /// Makes a folder that a listing did not find.
  ///
  /// - Throws: as ``make(_:_:)`` does.
  func makeIfMissing(
    _ url: String, _ work: @escaping @Sendable () async throws -> Void
  ) async throws {
    if missing.contains(url) { try await make(url, work) }
  }

  /// Puts something into a folder.
  ///
  /// - Parameters:
  ///   - url: the folder.
  ///   - isLarge: whether sending it twice is dear. Until the folder has taken something only one
  ///     such body goes ahead.
  ///   - put: sends it, and makes the folder where it is missing.
  /// - Throws: what `put` throws, for this one alone.
  func put<Receipt: Sendable>(
    into url: String, isLarge: Bool, _ put: @Sendable () async throws -> Receipt
  ) async throws -> Receipt {
    var goesAhead = false
    if isLarge, !known.contains(url) {
      goesAhead = tried[url] == nil
      if goesAhead {
        tried[url] = []
      } else {
        await withCheckedContinuation { tried[url]?.append($0) }
      }
    }
    defer { if goesAhead { letGo(url) } }
    let receipt = try await put()
    known.insert(url)
    missing.remove(url)
    letGo(url)
    return receipt
  }

  private func letGo(_ url: String) {
    for waiting in tried.removeValue(forKey: url) ?? [] { waiting.resume() }
  }
}
