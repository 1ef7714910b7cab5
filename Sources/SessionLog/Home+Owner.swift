import Platform

extension Home {
  /// Runs `body` with the rights of the home's owner, where the home is another user's.
  ///
  /// The rights are those of the whole process while it runs.
  ///
  /// - Throws: ``Platform/SystemError`` when the rights cannot be taken or given back, or the home cannot
  ///   be made; what `body` throws.
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
