import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog

/// The true content of a store, and its history: the oracle reads it, clients see it through
/// ``StoreClient``.
final class ModelStore: Sendable {
  /// The kinds of stores, by their abilities.
  enum Kind: String, Sendable, CaseIterable {
    /// Proves by a digest what it stored, and supports conditional requests.
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
    /// When it was written, in real time, in milliseconds since 1970.
    var storedAt: Int64
    /// When these bytes were first requested to be written there, in real time.
    var begunAt: Int64
    /// Counts all objects ever stored: equal numbers have equal bytes.
    var version: Int
    /// When a cache that never stored it forgets it; nil for a stored object.
    var forgottenAt: Int64?
  }

  /// A change: a key, and its new content.
  enum Change: Sendable {
    case put(String, [UInt8])
    case delete(String)
  }

  /// A change that arrives after some more calls.
  struct Delayed {
    var calls: Int
    let change: Change
    /// When it was requested, in real time.
    let begunAt: Int64
  }

  struct State {
    var objects: [String: Object] = [:]
    /// The objects hidden while the share is not mounted.
    var unmounted: [String: Object]?
    /// Changed keys with their previous content, the newest last.
    var history: [(key: String, before: Object?)] = []
    var delayed: [Delayed] = []
    var versions = 0
  }

  let kind: Kind
  let time: SimulatedTime
  private let state = Guarded(State())

  init(_ kind: Kind, _ time: SimulatedTime) { (self.kind, self.time) = (kind, time) }

  /// Makes an empty store whose clock is this machine's.
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

  /// The objects really stored, without those that only a cache shows.
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

  /// Drops objects that a cache has shown for long enough.
  private func forget(_ state: inout State) {
    let time = time.milliseconds
    for (key, object) in state.objects where object.forgottenAt.map({ $0 <= time }) ?? false {
      state.objects[key] = nil
    }
  }

  /// Carries out a change.
  ///
  /// - Parameters:
  ///   - modified: the object's date; nil for the server's.
  ///   - begunAt: when it was requested, in real time; nil for now.
  func apply(
    _ change: Change, at modified: ServerTime? = nil, begunAt: Int64? = nil,
    forgottenAt: Int64? = nil, to state: inout State
  ) {
    switch change {
    case .put(let key, let bytes):
      let known = state.objects[key].flatMap { $0.bytes == bytes ? $0 : nil }
      state.history.append((key, state.objects[key]))
      state.versions += 1
      state.objects[key] = Object(
        bytes: bytes, modified: (modified ?? date).milliseconds, storedAt: time.milliseconds,
        begunAt: known?.begunAt ?? begunAt ?? time.milliseconds,
        version: state.versions,
        forgottenAt: forgottenAt)
    case .delete(let key):
      guard let before = state.objects.removeValue(forKey: key) else { return }
      state.history.append((key, before))
    }
  }

  private func apply(_ delayed: Delayed, to state: inout State) {
    apply(delayed.change, begunAt: delayed.begunAt, to: &state)
  }

  /// Delays changes by some calls.
  func delay(_ changes: [Change], by calls: Int) {
    withState { state in
      state.delayed += changes.map {
        Delayed(calls: max(1, calls), change: $0, begunAt: time.milliseconds)
      }
    }
  }

  /// Counts a call, and carries out changes that are due.
  func beginCall() {
    withState { state in
      for index in state.delayed.indices { state.delayed[index].calls -= 1 }
      let due = state.delayed.filter { $0.calls <= 0 }
      state.delayed.removeAll { $0.calls <= 0 }
      for delayed in due { apply(delayed, to: &state) }
    }
  }

  /// Whether any change is delayed.
  var hasDelayed: Bool { withState { !$0.delayed.isEmpty } }

  /// Carries out all delayed changes.
  func settle() {
    withState { state in
      for delayed in state.delayed { apply(delayed, to: &state) }
      state.delayed = []
    }
  }

  /// The objects as they were this number of changes ago.
  func objects(before changes: Int, _ state: State) -> [String: Object] {
    var objects = state.objects
    for (key, before) in state.history.suffix(changes).reversed() { objects[key] = before }
    return objects
  }

  // MARK: What happens to a store

  /// Sessions whose objects are refused, and whether permanently.
  private let refused = Guarded<[SessionID: Bool]>([:])

  /// Refuses all further objects of a session.
  func refuse(_ session: SessionID, isLasting: Bool) {
    refused.withLock { $0[session] = isLasting || $0[session] == true }
  }

  /// Ends the temporary refusals.
  func relent() { refused.withLock { $0 = $0.filter(\.value) } }

  /// Whether a session's objects are refused.
  func refuses(_ session: SessionID) -> Bool { refused.withLock { $0[session] != nil } }

  /// Whether a change is refused.
  func refuses(_ change: Change) -> Bool {
    guard case .put(let key, _) = change else { return false }
    return (SegmentName(key.lastPart)?.session ?? RevisionName(key.lastPart)?.session)
      .map(refuses) ?? false
  }

  /// Unmounts the share, which leaves an empty folder in its place.
  func unmount() {
    withState { state in
      guard state.unmounted == nil else { return }
      (state.unmounted, state.objects, state.history) = (state.objects, [:], [])
    }
  }

  /// Mounts the share, which hides everything written in its place.
  func mount() {
    withState { state in
      guard let objects = state.unmounted else { return }
      (state.objects, state.unmounted, state.history) = (objects, nil, [])
    }
  }

  /// Whether the share is mounted.
  var isMounted: Bool { state.withLock { $0.unmounted == nil } }

  /// Deletes an object as another program.
  func remove(_ key: String) { withState { apply(.delete(key), to: &$0) } }

  /// Writes an object as another program.
  func write(_ key: String, _ bytes: [UInt8]) { withState { apply(.put(key, bytes), to: &$0) } }

  /// Deletes everything.
  func empty() {
    withState { state in
      for key in state.objects.keys.sorted() { apply(.delete(key), to: &state) }
    }
  }
}
