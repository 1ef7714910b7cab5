import ObjectStore
import Platform
import Replica
package import SessionLog

/// Sessions by their ids, as a person gives them.
extension SessionCatalog {
  /// The sessions with a person's ids, which may be shortened, and follow a device's.
  ///
  /// Every day is listed at most once, and sidecars are fetched only for these sessions.
  ///
  /// - Returns: one session per id, in their order.
  /// - Throws: ``LookupError``; errors of the store and of the local files.
  package func entries(matching ids: [String], devices: [String]) async throws -> [Entry] {
    try zip(ids, await find(ids, devices: devices)).map { id, entry in
      guard let entry else { throw LookupError.none(id) }
      return entry
    }
  }

  /// The same, with nil for an id that matches none.
  ///
  /// - Throws: ``LookupError`` for one that matches several; errors of the store and of the local
  ///   files.
  package func find(_ ids: [String], devices: [String]) async throws -> [Entry?] {
    try await lookUp(ids, devices: devices).entries
  }

  /// The same, with what was passed over.
  package func lookUp(
    _ ids: [String], devices: [String]
  ) async throws -> (entries: [Entry?], passedOver: Set<SessionID>) {
    guard !ids.isEmpty else { return ([], []) }
    let wanted = try ids.map(ShortenedID.init)
    let days = wanted.map(\.day)
    let named = Set(wanted.compactMap(\.session))
    let shortened = wanted.filter { $0.session == nil }
    var catalog = self
    catalog.leastAge = .zero
    let ofDevices = wanted.filter { $0.device != nil }
    catalog.isSeparate = { id in ofDevices.contains { $0.matches(id) } }
    let found = try await catalog.search(
      devices: devices,
      ofDay: { day in days.contains { $0 == nil || $0 == day } },
      including: { id in named.contains(id) || shortened.contains { $0.matches(id) } })
    let entries = try wanted.map { try $0.choose(from: found.entries, report: context.report) }
    return (entries, found.passedOver)
  }

  /// The session with one such id.
  ///
  /// - Throws: ``LookupError``; errors of the store and of the local files.
  package func entry(matching id: String, devices: [String]) async throws -> Entry {
    try await entries(matching: [id], devices: devices)[0]
  }

  /// Ids of the devices whose sessions the given ids may mean.
  ///
  /// A session that is not on this machine may be any device's.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  package func devices(for ids: [String]) async throws -> [String] {
    let own = context.device.deviceId
    let areLocal = ids.allSatisfy { id in
      SessionID(id).map { LocalSession(home, $0).hasSidecar } ?? false
    }
    return areLocal ? [own] : try await DeviceRecord.ids(in: context.store, first: own)
  }

  /// Ids, other than the given ones, under which local sessions were sealed in this store: those of a
  /// home that lost its device record.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func sealingDevices(besides known: [String]) throws -> [String] {
    var found: Set<String> = []
    for day in try home.days() {
      for session in try home.sessions(day: day) {
        guard let sidecar = try? Sidecar.load(home.files(for: session).sidecar),
          let seal = sidecar.seal, seal.store == context.store?.location
        else { continue }
        found.insert(sidecar.deviceId)
      }
    }
    return found.subtracting(known).sorted()
  }

  /// The sessions with several ids, to be read from a side; like ``entry(named:on:warn:)`` for
  /// each.
  ///
  /// - Throws: ``LookupError``; errors of the store and of the local files.
  package func entries(
    named ids: [String], on side: SessionReader.Side, warn: (String) -> Void
  ) async throws -> [Entry] {
    var found: [Entry?] = ids.map { _ in nil }
    if side != .remote {
      let whole = ids.indices.filter { SessionID(ids[$0]) != nil }
      let local = try await SessionCatalog(context.withoutStore)
        .find(whole.map { ids[$0] }, devices: [])
      for (index, entry) in zip(whole, local) {
        found[index] = entry.flatMap { sufficient($0, for: side) }
      }
    }
    let rest = ids.indices.filter { found[$0] == nil }
    if let only = rest.first, rest.count == 1 {
      found[only] = try await entry(named: ids[only], on: side, warn: warn)
    } else if !rest.isEmpty {
      let named = rest.map { ids[$0] }
      let entries = try await entries(matching: named, devices: devices(for: named))
      for (index, entry) in zip(rest, entries) { found[index] = entry }
    }
    return found.compactMap(\.self)
  }

  /// A local session if it is read without the store, which may have what a local log lost; else
  /// nil.
  private func sufficient(_ entry: Entry, for side: SessionReader.Side) -> Entry? {
    guard entry.hasLocalLog else { return nil }
    guard side != .local else { return entry }
    var entry = entry
    entry.endOfHoles = endOfHoles(entry)
    return entry.endOfHoles == 0 ? entry : nil
  }

  /// The session with an id, to be read from a side.
  ///
  /// The store is not queried for a session that is complete on this machine. If the id is
  /// shortened, it is queried for other sessions that the id might mean; if that fails, the local
  /// one is used.
  ///
  /// - Parameter warn: called with a line for a person if the store could not be queried.
  /// - Throws: ``LookupError``; errors of the store and of the local files.
  package func entry(
    named id: String, on side: SessionReader.Side, warn: (String) -> Void
  ) async throws -> Entry {
    var local: Entry?
    var ambiguity: LookupError?
    if side != .remote {
      do {
        let found = try await SessionCatalog(context.withoutStore).entry(matching: id, devices: [])
        if found.hasLocalLog { local = found }
      } catch let error as LookupError {
        if case .several = error.code { ambiguity = error }
      }
    }
    if SessionID(id) != nil, let whole = local.flatMap({ sufficient($0, for: side) }) {
      return whole
    }
    do {
      return try await entry(matching: id, devices: devices(for: [id]))
    } catch let error as StoreError where error.code != .cancelled {
      if let ambiguity { throw ambiguity }
      guard let local else { throw error }
      warn("reading the local log: \(error)")
      return local
    }
  }
}
