import Foundation
import Platform
import Sync
import TidemarkUpload

/// A progress bar on a terminal for work of more than a second; elsewhere nothing.
final class ProgressBar: Sendable {
  private struct State {
    var total: ByteCount
    var done: ByteCount = 0
    var isShown = false
    let start = ContinuousClock.now
  }

  private let state: Guarded<State>
  private static let width = 30

  /// Makes a bar for a number of bytes; 0 if it becomes known later.
  init(total: ByteCount = 0) { state = Guarded(State(total: total)) }

  /// Shows the progress of an upload.
  func update(_ event: UploadPassEvent) {
    switch event {
    case .planned(let bytes): state.withLock { $0 = State(total: bytes) }
    case .upload(.sent(_, let logBytes, _)): add(logBytes)
    case .uploadEnded: finish()
    default: break
    }
  }

  /// Counts processed log bytes.
  func add(_ bytes: ByteCount) {
    guard Console.errorIsTerminal else { return }
    state.withLock { state in
      guard state.total > 0 else { return }
      state.done += bytes
      guard ContinuousClock.now - state.start > .seconds(1) else { return }
      state.isShown = true
      let share = min(1, Double(state.done.bytes) / Double(state.total.bytes))
      let filled = Int(share * Double(Self.width))
      let bar =
        String(repeating: "#", count: filled)
        + String(repeating: "-", count: Self.width - filled)
      let text = "\r[\(bar)] \(Int(share * 100)) %  \(state.done.text)  "
      Console.drawError(Array(text.utf8))
    }
  }

  func finish() {
    if state.withLock({ $0.isShown }) { Console.drawError(Array("\r\u{1b}[K".utf8)) }
  }
}
