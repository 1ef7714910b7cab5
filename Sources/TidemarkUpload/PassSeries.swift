/// The passes of one upload: as long as one had no time for everything, the next continues at once.
///
/// What one pass says of the upload, a later one does not take back: only that a pass has left
/// something to the next says nothing once that one has run.
package struct PassSeries<Status: Equatable & Sendable> {
  /// The statuses that count for the upload.
  package private(set) var statuses: [Status] = []
  /// Whether another pass is to begin at once, which continues with what the last one has left.
  package private(set) var continues = false
  private let left: Status

  /// Describes an upload before its first pass.
  ///
  /// - Parameter left: the status of a pass of which nothing is to be said but that it has left
  ///   something.
  package init(left: Status) { self.left = left }

  /// Records the end of a pass.
  ///
  /// - Parameters:
  ///   - status: its status.
  ///   - isUnfinished: whether it had no time for everything.
  package mutating func ended(_ status: Status, isUnfinished: Bool) {
    continues = isUnfinished
    if !isUnfinished || status != left { statuses.append(status) }
  }

  /// Runs passes until one has left nothing.
  ///
  /// - Parameter pass: runs one, which continues with what the one before has left, or does not.
  /// - Throws: errors of a pass, after which none follows.
  package mutating func run(
    _ pass: (_ continues: Bool) async throws -> (status: Status, isUnfinished: Bool)
  ) async throws {
    repeat {
      let (status, isUnfinished) = try await pass(continues)
      ended(status, isUnfinished: isUnfinished)
    } while continues
  }
}
