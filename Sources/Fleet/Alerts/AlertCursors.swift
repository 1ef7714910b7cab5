import LogRecords
package import Platform
package import SessionLog

/// How far a store has been looked at: all times are the server's.
package struct AlertCursors: Sendable, Codable, Equatable {
  /// When the devices were listed last; nil before the first pass.
  package var devicesListedAt: Timestamp?
  /// How far the server's clock is ahead of ours, in milliseconds; nil where no answer told.
  package var clockOffset: Int64?
  /// The devices by id.
  package var devices: [String: Device] = [:]

  /// Nothing was looked at.
  package init() {}

  /// What is known of a device.
  package struct Device: Sendable, Codable, Equatable {
    /// Its name for people; nil where nobody has asked for it.
    package var name: String?
    /// When its name was asked for.
    package var namedAt: Timestamp?
    /// When its day folders were listed.
    package var foldersListedAt: Timestamp?
    /// When all recent folders were looked into.
    package var sweptAt: Timestamp?
    /// When its newest object was written; nil also where nothing of it is left.
    package var newest: Timestamp?
    /// Since when nothing of it is found.
    package var emptySince: Timestamp?
    /// Whether no rule has looked at it: when one does, what is there already is no news.
    package var isPassedOver = false
    /// What is known of its day folders, by day.
    package var folders: [String: Folder] = [:]

    package init() {}
  }

  /// What is known of a day folder; the empty value where nobody has looked into it.
  package struct Folder: Sendable, Codable, Equatable {
    /// When it was listed.
    package var listedAt: Timestamp?
    /// Its sessions.
    package var sessions: [String: Session] = [:]

    package init() {}
  }

  /// What is known of a session.
  package struct Session: Sendable, Codable, Equatable {
    /// Number of its newest revision; 0 without one.
    package var revision = 0
    /// Number of a revision that is damaged.
    package var unreadable: Int?
    /// What that says of it.
    package var status = SessionStatus.active
    /// Up to where its stream was read, or needs no reading.
    package var end = StreamOffset.zero
    /// When its newest object was written.
    package var newest: Timestamp?
    /// Whom and what its sidecar names; nil where nobody has asked for it.
    package var facts: SessionFacts?
    /// Since when it is missing in listings.
    package var missingSince: Timestamp?

    package init() {}

    /// Whether more of it may come.
    package var isOpen: Bool { status == .active }
  }
}

/// What a sidecar says that does not change.
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
