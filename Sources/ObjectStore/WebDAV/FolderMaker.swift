/// Creates a missing folder once, however many objects wait for it, and delays large bodies whose
/// folder may be missing.
actor FolderMaker {
  private var underWay: [String: Task<Void, any Error>] = [:]
  /// Folders that a listing did not find.
  private var missing: Set<String> = []
  /// Folders that accepted an object.
  private var known: Set<String> = []
  /// Folders to which one large body is being sent, with the others that wait for it.
  private var tried: [String: [CheckedContinuation<Void, Never>]] = [:]

  /// Creates a folder, or waits for a creation in progress.
  ///
  /// - Throws: errors of `work`, to every waiting caller.
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

  /// Records that a listing did not find a folder.
  func markMissing(_ url: String) {
    if !known.contains(url) { missing.insert(url) }
  }

  /// Creates a folder that a listing did not find.
  ///
  /// - Throws: like ``make(_:_:)``.
  func makeIfMissing(
    _ url: String, _ work: @escaping @Sendable () async throws -> Void
  ) async throws {
    if missing.contains(url) { try await make(url, work) }
  }

  /// Puts an object into a folder.
  ///
  /// - Parameters:
  ///   - url: the folder.
  ///   - isLarge: whether sending it twice is expensive. Until the folder has accepted an object,
  ///     only one such body is sent.
  ///   - put: sends it, and creates the folder if missing.
  /// - Throws: errors of `put`, to this caller only.
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
