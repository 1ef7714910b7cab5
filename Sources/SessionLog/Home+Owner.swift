import Platform

extension Home {
  /// Runs `body` with the rights of the home's owner, if the home is another user's.
  ///
  /// The whole process has these rights meanwhile.
  ///
  /// - Throws: ``Platform/SystemError`` if the rights cannot be assumed or given back, or the home
  ///   cannot be created; errors of `body`.
  package func withOwnersRights<Result>(_ body: () async throws -> Result) async throws -> Result {
    guard let owner else { return try await body() }
    try owner.assumeRights()
    let result: Result
    do {
      try create()
      result = try await body()
    } catch {
      try Account.resumeOwnRights()
      throw error
    }
    try Account.resumeOwnRights()
    return result
  }
}
