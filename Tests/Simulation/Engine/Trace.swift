import Platform

/// A hash of the events of a history: two runs of one history must have the same.
final class Trace: Sendable {
  private struct State {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    var lines: [String] = []
  }

  private let state = Guarded(State())
  private let keepsLines: Bool

  /// - Parameter keepsLines: whether to keep the events as text, too.
  init(keepsLines: Bool) { self.keepsLines = keepsLines }

  /// Records an event.
  func record(_ text: String) {
    state.withLock { state in
      Self.add(text.utf8, to: &state.hash)
      if keepsLines { state.lines.append(text) }
    }
  }

  /// Records the start of a step; formats its source only for lines, because that is slow.
  func record(_ step: Step, number: Int) {
    state.withLock { state in
      state.hash = (state.hash ^ UInt64(number)) &* 0x100_0000_01b3
      state.hash = (state.hash ^ step.seed) &* 0x100_0000_01b3
      if keepsLines { state.lines.append("step \(number) \(step)") }
    }
  }

  /// Records a change to files, by its path below a folder.
  func record(_ effect: FileEffect, by process: String, below root: String, result: Int) {
    state.withLock { state in
      let isBelow = effect.path.hasPrefix(root)
      Self.add(
        isBelow ? effect.path.utf8.dropFirst(root.utf8.count) : effect.path.utf8[...],
        to: &state.hash)
      Self.add(process.utf8, to: &state.hash)
      state.hash = (state.hash ^ UInt64(bitPattern: Int64(result))) &* 0x100_0000_01b3
      if keepsLines {
        let line = "\(process) \(effect.kind) \(effect.path) \(result)"
        state.lines.append(line.replacing(root, with: ""))
      }
    }
  }

  private static func add(_ bytes: some Sequence<UInt8>, to hash: inout UInt64) {
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  /// FNV-1a, 64 bits, over everything so far.
  var hash: UInt64 { state.withLock { $0.hash } }

  /// The events as text; empty if not kept.
  var lines: [String] { state.withLock { $0.lines } }
}
