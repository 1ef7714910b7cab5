/// Makes a missing folder once, however many objects wait for it.
actor FolderMaker {
  private var underWay: [String: Task<Void, any Error>] = [:]

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
  }
}
