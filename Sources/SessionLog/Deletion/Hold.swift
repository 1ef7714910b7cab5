import Foundation
package import Platform

/// A session kept beyond its retention at a person's request, on this machine and in the store.
///
/// `keep/<session>.json` holds it in this home, by lived time; an object in the session's folder
/// holds it against every reaper of the store.
package struct Hold: Sendable, Equatable, Codable {
  /// Its start, in the home's lived time.
  fileprivate let since: LivedTime.Mark
  /// Its duration, in lived seconds.
  fileprivate let seconds: Int64
  /// Its end, if all clocks are right.
  package let until: Timestamp

  /// Remaining lived time; nil when it is over.
  ///
  /// If the count it began in was lost, it starts again.
  package func rest(at time: LivedTime) -> Duration? {
    let lived = time.age(since: since) ?? .seconds(time.seconds)
    let rest = .seconds(seconds) - lived
    return rest > .zero ? rest : nil
  }
}

/// The holds of a home.
package struct Holds: Sendable {
  private let folder: String
  private let home: Home

  /// The longest possible hold.
  package static let longest = Duration.days(3650)

  /// The holds of a home.
  package init(_ home: Home) { (self.home, folder) = (home, home.path + "/keep") }

  private func path(_ session: SessionID) -> String { "\(folder)/\(session).json" }

  /// Whether a session is held.
  ///
  /// An unreadable hold counts: a person wanted to keep the session.
  ///
  /// - Parameter duration: how much longer than that, in lived time.
  package func isHeld(
    _ session: SessionID, at time: LivedTime, for duration: Duration = .zero
  ) -> Bool {
    guard File.exists(folder) else { return false }
    do {
      return try hold(on: session)?.rest(at: time).map { $0 > duration } ?? false
    } catch {
      return true
    }
  }

  /// The hold on a session, which may be over; nil if there is none.
  ///
  /// - Throws: ``Platform/SystemError``; `DecodingError`.
  package func hold(on session: SessionID) throws -> Hold? {
    do {
      let json = try AtomicFile.read(path(session))
      return try JSONDecoder().decode(Hold.self, from: Data(json))
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  /// Holds a session from now on, replacing an earlier hold.
  ///
  /// - Parameters:
  ///   - duration: how long, at most ``longest``.
  ///   - mark: this moment, in the home's lived time.
  ///   - now: the wall clock's time.
  /// - Throws: ``Platform/SystemError``.
  package func keep(
    _ session: SessionID, for duration: Duration, from mark: LivedTime.Mark, now: Timestamp,
    holding lock: HomeLock
  ) throws -> Hold {
    lock.expect(home)
    let duration = min(duration, Self.longest)
    let hold = Hold(
      since: mark, seconds: duration.seconds, until: now + duration)
    try Directory.makeOne(folder, isDurable: true)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try AtomicFile.write(Array(try encoder.encode(hold)) + [0x0a], to: path(session))
    return hold
  }

  /// Ends a hold.
  ///
  /// - Returns: whether there was one.
  /// - Throws: ``Platform/SystemError``.
  package func release(_ session: SessionID, holding lock: HomeLock) throws -> Bool {
    lock.expect(home)
    guard try FileStatus(path(session)) != nil else { return false }
    try File.remove(path(session))
    return true
  }

  /// Removes holds that are over.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func removeEnded(at time: LivedTime) throws {
    for name in try Directory.names(in: folder) where name.hasSuffix(".json") {
      guard let session = SessionID(String(name.dropLast(5))),
        let hold = try? hold(on: session), hold.rest(at: time) == nil
      else { continue }
      try File.remove(path(session))
    }
  }
}
