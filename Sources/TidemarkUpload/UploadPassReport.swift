import ObjectStore
package import Platform
package import SessionLog
package import Sync

/// The result of a pass, for a caller to render.
package struct UploadPassReport: Sendable {
  /// Id of the device whose sessions were sent.
  package let device: String
  /// Sent and sealed sessions, and failures.
  package var upload = UploadReport()
  /// Copies that were removed, local and remote ones, in sessions.
  package var reaped = 0
  /// Whether the store was not left alone because it failed before.
  package var hasAskedStore = true
  /// Whether a failure of the store is to be reported.
  package var isReportDue = false

  /// Whether the store was asked, and failed for all sessions.
  package var isStoreDown: Bool {
    hasAskedStore && upload.stoppedBy is StoreError && !upload.isStoppedBySessions
  }

  init(device: String) { self.device = device }
}

/// An event of a pass.
package enum UploadPassEvent: Sendable {
  /// The bytes of log that are to be sent, as far as is known.
  case planned(bytes: ByteCount)
  /// An object or a session.
  case upload(UploadEvent)
  /// Nothing more is sent.
  case uploadEnded
  /// A log of another program cannot be read, which is news.
  case unreadable(path: String, reason: String)
  /// Deletion by age is postponed.
  case postponed(ReapPlan.Postponement)
  /// The last copies of sessions expire within this time.
  case expiring([SessionID], within: Duration)
  /// Local sessions are sealed in another store than the configured one, which is news.
  case sealedElsewhere(Int, configured: String)
  /// Something could not be removed, in one line for a person.
  case kept(String)
}
