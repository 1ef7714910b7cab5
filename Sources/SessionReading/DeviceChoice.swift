package import ObjectStore
import Platform
package import Replica
package import SessionLog

/// The devices whose sessions a person asks for.
package enum DeviceChoice: Sendable, Equatable {
  /// This home's, under its present id and its former ones.
  case own
  /// Every device in the store.
  case all
  /// The one with a name, an id, or the beginning of an id.
  case named(String)

  /// Ids of the chosen devices; of this home's the present one first.
  ///
  /// - Parameters:
  ///   - own: this home's device.
  ///   - store: the store to look up others in; nil if none is configured.
  /// - Throws: ``ReadingError`` without a store, and as ``device(_:among:)`` does;
  ///   ``ObjectStore/StoreError``.
  package func ids(own: Device, in store: (any ObjectStore)?) async throws -> [String] {
    if self == .own { return own.ids }
    guard let store else {
      throw ReadingError(
        .noStore, "other devices' sessions are in a store, and none is configured")
    }
    let known = try await DeviceRecord.all(in: store)
    guard case .named(let given) = self else { return known.map(\.deviceId) }
    return [try Self.device(given, among: known).deviceId]
  }

  /// The device with a name, an id, or the beginning of an id.
  ///
  /// - Throws: ``ReadingError`` if there is none, or more than one.
  package static func device(
    _ given: String, among known: [DeviceRecord]
  ) throws -> DeviceRecord {
    if let whole = known.first(where: { $0.deviceId == given }) { return whole }
    let named = known.filter { $0.deviceName == given }
    let meant =
      named.isEmpty && !given.isEmpty ? known.filter { $0.deviceId.hasPrefix(given) } : named
    let shown = String(oneLine: given, limit: 80)
    guard let first = meant.first else {
      let all = known.map { "\(String(oneLine: $0.deviceName)) (\($0.deviceId))" }.sorted()
      throw ReadingError(
        .unfit, "no device '\(shown)' in the store; there are: \(all.joined(separator: ", "))")
    }
    guard meant.count == 1 else {
      let what = named.isEmpty ? "start of the ids" : "name"
      let ids = meant.map(\.deviceId).sorted().joined(separator: ", ")
      throw ReadingError(
        .unfit, "'\(shown)' is the \(what) of \(meant.count) devices; give the id of one: \(ids)")
    }
    return first
  }
}
