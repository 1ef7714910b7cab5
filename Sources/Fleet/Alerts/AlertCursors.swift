import LogRecords
package import Platform
package import SessionLog

/// How far a store has been read; all times are the server's.
package struct AlertCursors: Sendable, Codable, Equatable {
  /// When the devices were last listed; nil before the first pass.
  package var devicesListedAt: ServerTime?
  /// The server clock's lead over ours in milliseconds; nil if no answer had a date.
  package var clockOffset: Int64?
  /// The devices by id.
  package var devices: [String: Device] = [:]

  /// Nothing was read yet.
  package init() {}

  /// A known device.
  package struct Device: Sendable, Codable, Equatable {
    /// Its name for people; nil if not requested yet.
    package var name: String?
    /// When its name was requested.
    package var namedAt: ServerTime?
    /// When its day folders were listed.
    package var foldersListedAt: ServerTime?
    /// When all recent folders were read.
    package var sweptAt: ServerTime?
    /// When its newest object was written; nil if unknown, or if no object is left.
    package var newest: ServerTime?
    /// Since when none of its objects is found.
    package var emptySince: ServerTime?
    /// When it was last reported that sessions of it are left out.
    package var leftOutAt: ServerTime?
    /// Whether no rule has covered it: when one does, its existing sessions are not reported.
    package var isPassedOver = false
    /// Its day folders, by day.
    package var folders: [String: Folder] = [:]

    package init() {}
  }

  /// A known day folder; empty if it was not read yet.
  package struct Folder: Sendable, Codable, Equatable {
    /// When it was listed.
    package var listedAt: ServerTime?
    /// Its sessions.
    package var sessions: [String: Session] = [:]

    package init() {}
  }

  /// A known session.
  package struct Session: Sendable, Codable, Equatable {
    /// Number of its newest revision; 0 without one.
    package var revision = 0
    /// Number of a revision that is damaged.
    package var unreadable: Int?
    /// The status in its newest revision's name.
    package var status = SessionStatus.active
    /// The offset up to which its stream was read, or need not be read.
    package var end = StreamOffset.zero
    /// When its newest object was written.
    package var newest: ServerTime?
    /// Its sidecar's fixed fields; nil if not requested yet.
    package var facts: SessionFacts?
    /// Since when it is missing in listings.
    package var missingSince: ServerTime?

    package init() {}

    /// Whether it may still grow.
    package var isOpen: Bool { status == .active }
  }
}

/// The fields of a sidecar that do not change.
package struct SessionFacts: Sendable, Codable, Equatable {
  package let subject: AlertSubject
  package let isAsIs: Bool
  /// Milliseconds to be added to the times of its records.
  package let clockOffset: Int64

  package init(_ sidecar: Sidecar) {
    subject = AlertSubject(sidecar)
    isAsIs = sidecar.format == .asIs
    clockOffset = sidecar.clockOffset ?? 0
  }
}
