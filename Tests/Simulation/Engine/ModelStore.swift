import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog

/// What a store really holds, and the history of it: the oracle reads it, clients see it through
/// ``StoreClient``.
final class ModelStore: Sendable {
  /// The kinds of stores, by what their answers tell.
  enum Kind: String, Sendable, CaseIterable {
    /// Proves what it stored by a digest, and knows conditional requests.
    case bucket
    /// Proves nothing.
    case webdav
    /// A folder, which may be a share that is not mounted.
    case folder
  }

  /// An object.
  struct Object: Sendable, Equatable {
    /// The bytes.
    var bytes: [UInt8]
    /// When it was written, by the server's clock, in milliseconds since 1970.
    var modified: Int64
    /// When it was written, by the time that passes, in milliseconds since 1970.
    var storedAt: Int64
    /// When these bytes were first written there, by the time that passes.
    var begunAt: Int64
    /// Counts all objects that were ever stored: equal numbers have equal bytes.
    var version: Int
    /// When a cache forgets it that has never stored it; nil for an object that is there.
    var forgottenAt: Int64?
  }

  /// A change: a key, and what it is to hold.
  enum Change: Sendable {
    case put(String, [UInt8])
    case delete(String)
  }

  struct State {
    var objects: [String: Object] = [:]
    /// What other objects are there while the share is not mounted.
    var unmounted: [String: Object]?
    /// Keys that were changed, with what they held before, the newest last.
    var history: [(key: String, before: Object?)] = []
    var delayed: [(calls: Int, change: Change)] = []
    var versions = 0
  }

  let kind: Kind
  let time: SimulatedTime
  private let state = Guarded(State())

  init(_ kind: Kind, _ time: SimulatedTime) { (self.kind, self.time) = (kind, time) }

  /// Makes an empty store that has this machine's time.
  convenience init(_ kind: Kind) {
    self.init(kind, SimulatedTime { Timestamp.now().milliseconds })
  }

  /// Its location.
  var location: String {
    switch kind {
    case .bucket: "s3://model/logs"
    case .webdav: "https://model/logs"
    case .folder: "file:///model/logs"
    }
  }

  /// The server's clock.
  var date: ServerTime {
    ServerTime(milliseconds: (time.milliseconds + clockOffset.withLock { $0 }) / 1000 * 1000)
  }

  /// How far the server's clock is ahead, in milliseconds.
  let clockOffset = Guarded<Int64>(0)

  /// What is really stored, what only a cache shows apart.
  var stored: [String: Object] {
    state.withLock { $0.objects.filter { $0.value.forgottenAt == nil } }
  }

  // MARK: Changes

  func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try state.withLock { state in
      forget(&state)
      return try body(&state)
    }
  }

  /// Drops what a cache has shown for long enough.
  private func forget(_ state: inout State) {
    let time = time.milliseconds
    for (key, object) in state.objects where object.forgottenAt.map({ $0 <= time }) ?? false {
      state.objects[key] = nil
    }
  }

  /// Carries out a change.
  ///
  /// - Parameter modified: the date that the object gets; nil for the server's.
  func apply(
    _ change: Change, at modified: ServerTime? = nil, forgottenAt: Int64? = nil,
    to state: inout State
  ) {
    switch change {
    case .put(let key, let bytes):
      let known = state.objects[key].flatMap { $0.bytes == bytes ? $0 : nil }
      state.history.append((key, state.objects[key]))
      state.versions += 1
      state.objects[key] = Object(
        bytes: bytes, modified: (modified ?? date).milliseconds, storedAt: time.milliseconds,
        begunAt: known?.begunAt ?? time.milliseconds,
        version: state.versions,
        forgottenAt: forgottenAt)
    case .delete(let key):
      guard let before = state.objects.removeValue(forKey: key) else { return }
      state.history.append((key, before))
    }
  }

  /// Counts a call, and carries out what is due by now.
  func beginCall() {
    withState { state in
      var due: [Change] = []
      state.delayed = state.delayed.compactMap { calls, change in
        if calls <= 1 { due.append(change) }
        return calls <= 1 ? nil : (calls - 1, change)
      }
      for change in due { apply(change, to: &state) }
    }
  }

  /// Whether anything is delayed.
  var hasDelayed: Bool { withState { !$0.delayed.isEmpty } }

  /// Carries out everything that is delayed.
  func settle() {
    withState { state in
      for (_, change) in state.delayed { apply(change, to: &state) }
      state.delayed = []
    }
  }

  /// The objects as they were so many changes ago.
  func objects(before changes: Int, _ state: State) -> [String: Object] {
    var objects = state.objects
    for (key, before) in state.history.suffix(changes).reversed() { objects[key] = before }
    return objects
  }

  // MARK: What happens to a store

  /// Sessions whose objects are refused, and whether for good.
  private let refused = Guarded<[SessionID: Bool]>([:])

  /// Refuses all further objects of a session.
  func refuse(_ session: SessionID, isLasting: Bool) {
    refused.withLock { $0[session] = isLasting || $0[session] == true }
  }

  /// Ends the refusals that do not last.
  func relent() { refused.withLock { $0 = $0.filter(\.value) } }

  /// Whether a session's objects are refused.
  func refuses(_ session: SessionID) -> Bool { refused.withLock { $0[session] != nil } }

  /// Whether a change is refused.
  func refuses(_ change: Change) -> Bool {
    guard case .put(let key, _) = change else { return false }
    return (SegmentName(key.lastPart)?.session ?? RevisionName(key.lastPart)?.session)
      .map(refuses) ?? false
  }

  /// Takes a share away, so that an empty folder is in its place.
  func unmount() {
    withState { state in
      guard state.unmounted == nil else { return }
      (state.unmounted, state.objects, state.history) = (state.objects, [:], [])
    }
  }

  /// Brings the share back; what was written in its place is hidden by it.
  func mount() {
    withState { state in
      guard let objects = state.unmounted else { return }
      (state.objects, state.unmounted, state.history) = (objects, nil, [])
    }
  }

  /// Whether the share is mounted.
  var isMounted: Bool { state.withLock { $0.unmounted == nil } }

  /// Another program deletes an object.
  func remove(_ key: String) { withState { apply(.delete(key), to: &$0) } }

  /// Another program writes an object.
  func write(_ key: String, _ bytes: [UInt8]) { withState { apply(.put(key, bytes), to: &$0) } }

  /// Everything is deleted.
  func empty() {
    withState { state in
      for key in state.objects.keys.sorted() { apply(.delete(key), to: &state) }
    }
  }
}
