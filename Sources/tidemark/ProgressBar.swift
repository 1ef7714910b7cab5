import Foundation
import Sync
import Synchronization

/// A bar on a terminal for work of more than a second; nothing anywhere else.
final class ProgressBar: Sendable {
  private struct State {
    var done: Int64 = 0
    var isShown = false
    let start = ContinuousClock.now
  }

  private let total: Int64
  private let state = Mutex(State())
  private static let width = 30

  init(total: Int64) { self.total = total }

  func note(_ event: UploadEvent) {
    if case .sent(_, let logBytes, _) = event { add(logBytes) }
  }

  /// Notes bytes of log that have gone through.
  func add(_ bytes: Int64) {
    guard Console.errorIsTerminal, total > 0 else { return }
    state.withLock { state in
      state.done += bytes
      guard ContinuousClock.now - state.start > .seconds(1) else { return }
      state.isShown = true
      let share = min(1, Double(state.done) / Double(total))
      let filled = Int(share * Double(Self.width))
      let bar =
        String(repeating: "#", count: filled)
        + String(repeating: "-", count: Self.width - filled)
      let text = "\r[\(bar)] \(Int(share * 100)) %  \(Console.size(state.done))  "
      FileHandle.standardError.write(Data(text.utf8))
    }
  }

  func finish() {
    if state.withLock({ $0.isShown }) { FileHandle.standardError.write(Data("\r\u{1b}[K".utf8)) }
  }
}
