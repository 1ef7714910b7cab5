extension Array where Element: Sendable {
  /// Does work for each element, for several at once, so that waiting for answers of a store
  /// overlaps.
  ///
  /// With ``Parallelism/isSequential``, one after the other.
  ///
  /// - Parameters:
  ///   - limit: maximum number at once, and of results in memory.
  ///   - work: the work.
  ///   - body: called with the results one by one, in the order of the elements.
  /// - Throws: the first error of `work` or `body`; the rest is cancelled.
  package func concurrentForEach<Result: Sendable>(
    atOnce limit: Int = Parallelism.width,
    _ work: @escaping @Sendable (Element) async throws -> Result,
    _ body: (Result) async throws -> Void
  ) async throws {
    if Parallelism.isSequential {
      for element in self { try await body(try await work(element)) }
      return
    }
    try await withThrowingTaskGroup(of: (Int, Result).self) { group in
      var results: [Int: Result] = [:]
      var begun = 0
      for number in indices {
        while begun < Swift.min(count, number + limit) {
          let (index, element) = (begun, self[begun])
          group.addTask { (index, try await work(element)) }
          begun += 1
        }
        while results[number] == nil, let (index, result) = try await group.next() {
          results[index] = result
        }
        if let result = results.removeValue(forKey: number) { try await body(result) }
      }
    }
  }

  /// The results of work for each element, in order, computed for several at once.
  ///
  /// - Parameters:
  ///   - limit: maximum number at once.
  ///   - work: the work.
  /// - Throws: the first error of `work`; the rest is cancelled.
  package func concurrentMap<Result: Sendable>(
    atOnce limit: Int = Parallelism.width,
    _ work: @escaping @Sendable (Element) async throws -> Result
  ) async throws -> [Result] {
    var results: [Result] = []
    try await concurrentForEach(atOnce: limit, work) { results.append($0) }
    return results
  }
}
