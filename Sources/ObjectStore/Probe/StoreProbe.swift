import Foundation
import HTTPTransport
package import Platform

/// Tests every ability required of a store, with scratch objects that it removes.
///
/// Trusts nothing that was not read back: some servers report success for a write that they drop or
/// truncate, or that a precondition forbids.
package struct StoreProbe: Sendable {
  private let store: any ObjectStore
  private let prefix: String
  private let now: @Sendable () -> Timestamp
  private let random: @Sendable () -> UInt64
  private let sleep: @Sendable (Duration) async throws -> Void

  /// The largest object ever sent, in bytes, and the smallest limit that is usable.
  private static let bodies = (largest: 8 << 20, smallest: 64 << 10)
  /// How often a listing is repeated until it shows what was written.
  private static let listings = 5
  /// The tolerated clock difference; S3 services refuse more than 15 minutes.
  private static let clockTolerance = Duration.seconds(300)

  /// Makes a probe.
  ///
  /// - Parameters:
  ///   - store: The store, preferably without retries: they would hide failures.
  ///   - prefix: Key prefix of the scratch objects, such as `probe/name`; unique to this run. Its
  ///     folder is created if missing, and stays: no store deletes folders.
  ///   - now: The clock.
  ///   - random: Returns 64 random bits, for an incompressible body.
  ///   - sleep: Waits between two listings.
  package init(
    _ store: any ObjectStore, prefix: String,
    now: @escaping @Sendable () -> Timestamp,
    random: @escaping @Sendable () -> UInt64,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.store = store
    self.prefix = prefix
    self.now = now
    self.random = random
    self.sleep = sleep
  }

  /// Tests one ability after the other.
  ///
  /// - Parameter report: Called with each result as soon as it is known.
  /// - Returns: One finding per check, in their order.
  /// - Throws: `cancelled` only.
  package func run(report: (ProbeFinding) -> Void = { _ in }) async throws -> [ProbeFinding] {
    var findings: [ProbeFinding] = []
    for check in ProbeFinding.Check.allCases {
      let finding: ProbeFinding
      let hasObject = findings.first.map { $0.outcome == .ok } ?? true
      if hasObject || check == .clock || check == .delete {
        finding = try await self.finding(check)
      } else {
        finding = ProbeFinding(
          check: check, outcome: .skipped, sent: "nothing", received: "not tried: CREATE failed",
          error: nil)
      }
      findings.append(finding)
      report(finding)
    }
    return findings
  }

  private func finding(_ check: ProbeFinding.Check) async throws -> ProbeFinding {
    do {
      let answer = try await answer(check)
      return ProbeFinding(
        check: check, outcome: answer.outcome, sent: sent(check), received: answer.text, error: nil)
    } catch let error as StoreError where error.code != .cancelled {
      return ProbeFinding(
        check: check, outcome: .failed, sent: sent(check), received: error.response, error: error)
    }
  }

  // MARK: The checks

  private typealias Answer = (outcome: ProbeFinding.Outcome, text: String)

  private var key: String { "\(prefix)-object" }
  private var laterKey: String { "\(prefix)-later" }
  private var largeKey: String { "\(prefix)-large" }
  private let first = Array("put by tidemark doctor, which removes it again\n".utf8)
  private var second: [UInt8] { first.reversed() }

  private func sent(_ check: ProbeFinding.Check) -> String {
    switch check {
    case .create: "\(first.count) bytes"
    case .read: "a request for the object"
    case .range: "requests for 10 bytes in the middle, and for the last 8"
    case .overwrite: "\(second.count) other bytes under the same name"
    case .list: "a request for its names"
    case .listAfterWrite: "an object, its deletion, and requests for their names"
    case .conditional: "bytes for the name that is taken, with If-None-Match"
    case .clock: "a request for its names"
    case .largestBody: "\(Self.bodies.largest >> 20) MiB that cannot be compressed"
    case .delete: "deletions of all scratch objects"
    }
  }

  private func answer(_ check: ProbeFinding.Check) async throws -> Answer {
    switch check {
    case .create: try await create()
    case .read: try await same(try await store.get(key), first, "returned the same bytes")
    case .range: try await range()
    case .overwrite: try await overwrite()
    case .list: try await list()
    case .listAfterWrite: try await listAfterWrite()
    case .conditional: try await conditional()
    case .clock: try await clock()
    case .largestBody: try await largestBody()
    case .delete: try await delete()
    }
  }

  private func same(_ found: [UInt8], _ expected: [UInt8], _ text: String) async throws -> Answer {
    found == expected
      ? (.ok, text) : (.failed, "\(found.count) bytes that are not the \(expected.count) sent")
  }

  private func create() async throws -> Answer {
    let receipt = try await store.put(key, first)
    let proof = receipt.provesContent ? "; the answer proves their MD5" : ""
    return try await same(try await store.get(key), first, "accepted and read back\(proof)")
  }

  private func range() async throws -> Answer {
    let middle = try await store.get(key, range: .bytes(offset: 10, count: 10))
    let end = try await store.get(key, range: .suffix(8))
    return try await same(middle + end, Array(first[10..<20] + first.suffix(8)), "exactly these")
  }

  private func overwrite() async throws -> Answer {
    _ = try await store.put(key, second)
    return try await same(try await store.get(key), second, "accepted and read back")
  }

  private func list() async throws -> Answer {
    let page = try await store.listAll(prefix)
    guard let entry = page.objects.first(where: { $0.key == key }) else {
      return (.failed, "\(page.objects.count) names, the object's not among them")
    }
    guard entry.size == ByteCount(second.count) else {
      return (.failed, "the object with \(entry.size) bytes instead of \(second.count)")
    }
    return (.ok, "returned the object with its size")
  }

  private func listAfterWrite() async throws -> Answer {
    _ = try await store.put(laterKey, first)
    let shown = try await listingsUntil { $0.contains(laterKey) }
    if let error = try await store.delete([laterKey]).first?.error { throw error }
    let hidden = try await listingsUntil { !$0.contains(laterKey) }
    guard let shown, let hidden else {
      return (
        .note, "does not show changes after \(Self.listings - 1) seconds; listings lag behind"
      )
    }
    return shown + hidden == 0
      ? (.ok, "shows changes at once")
      : (.note, "shows changes after \(max(shown, hidden)) seconds")
  }

  /// Seconds until the names are as wanted; nil if that takes too long.
  private func listingsUntil(_ isAsWanted: ([String]) -> Bool) async throws -> Int? {
    for look in 0..<Self.listings {
      if look > 0 {
        do {
          try await sleep(.seconds(1))
        } catch {
          throw StoreError(
            .cancelled, operation: "LIST", target: prefix, response: "the request was cancelled")
        }
      }
      if isAsWanted(try await store.listAll(prefix).objects.map(\.key)) { return look }
    }
    return nil
  }

  private func conditional() async throws -> Answer {
    let before = try await store.get(key)
    do {
      _ = try await store.putIfAbsent(key, first)
    } catch let error as StoreError where error.code == .conflict {
      let isKept = try await store.get(key) == before
      return isKept
        ? (.ok, "If-None-Match works: overwriting was refused")
        : (.failed, "refused, but what was there is replaced")
    } catch let error as StoreError where error.code == .unsupported {
      return (.note, "not known to the server (\(error.response)); nothing depends on it")
    }
    let isKept = try await store.get(key) == before
    return isKept
      ? (.note, "accepted, but nothing was replaced")
      : (.note, "ignored: what was there is replaced; nothing depends on it")
  }

  private func clock() async throws -> Answer {
    let before = now()
    let page = try await store.list(prefix, after: nil)
    guard let theirs = page.serverDate else { return (.note, "no time in the answers") }
    // The middle of the request; the server's date is in whole seconds.
    let ours = before + (now() - before) / 2
    let offset = theirs.offset(from: ours)
    let seconds = offset.magnitude.seconds
    guard offset.magnitude > Self.clockTolerance else {
      return (.ok, "server clock within \(seconds + 1) s of this machine")
    }
    let text = "server clock \(seconds) s \(offset > .zero ? "ahead of" : "behind") this machine"
    return (.note, text)
  }

  private func largestBody() async throws -> Answer {
    var size = Self.bodies.largest
    while true {
      let body = (0..<(size / 8)).flatMap { _ in
        withUnsafeBytes(of: random(), Array.init)
      }
      do {
        _ = try await store.put(largeKey, body)
      } catch let error as StoreError where error.code == .tooLarge && size > Self.bodies.smallest {
        size /= 2
        continue
      }
      let answer = try await same(try await store.get(largeKey), body, "accepted and read back")
      guard answer.outcome == .ok, size < Self.bodies.largest else { return answer }
      return (.note, "only \(size >> 10) KiB are accepted; larger ones are sent in pieces")
    }
  }

  private func delete() async throws -> Answer {
    let keys = [key, laterKey, largeKey]
    for outcome in try await store.delete(keys) {
      if let error = outcome.error { throw error }
    }
    for key in keys {
      do {
        _ = try await store.get(key)
        return (.failed, "accepted, but \(key) is still there")
      } catch let error as StoreError where error.isNotFound {
        continue
      }
    }
    return (.ok, "all scratch objects deleted")
  }
}
