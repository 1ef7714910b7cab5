import ObjectStore
import Synchronization

/// A store whose PUTs hang, as on a network drive whose server is gone: not even a cancellation
/// ends them.
final class HangingStore: ForwardingStore {
  let base: any ObjectStore
  private let state = Mutex(State())

  private struct State {
    var hangs = true
    var hanging: [CheckedContinuation<Void, Never>] = []
    var watchers: [CheckedContinuation<Void, Never>] = []
  }

  init(_ base: any ObjectStore) { self.base = base }

  /// Returns once a PUT hangs.
  func isReached() async {
    await withCheckedContinuation { watcher in
      let isHanging = state.withLock { state in
        if state.hanging.isEmpty { state.watchers.append(watcher) }
        return !state.hanging.isEmpty
      }
      if isHanging { watcher.resume() }
    }
  }

  /// Lets all PUTs continue.
  func release() {
    let hanging = state.withLock { state in
      defer { (state.hangs, state.hanging) = (false, []) }
      return state.hanging
    }
    for put in hanging { put.resume() }
  }

  func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    await withCheckedContinuation { put in
      let (hangs, watchers) = state.withLock { state in
        guard state.hangs else { return (false, [CheckedContinuation<Void, Never>]()) }
        state.hanging.append(put)
        defer { state.watchers = [] }
        return (true, state.watchers)
      }
      if !hangs { put.resume() }
      for watcher in watchers { watcher.resume() }
    }
    return try await base.put(key, body)
  }
}
