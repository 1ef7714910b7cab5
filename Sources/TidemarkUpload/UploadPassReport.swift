import ObjectStore
package import Platform
package import SessionLog
package import Sync

/// The result of a pass, for a caller to render.
package struct UploadPassReport: Sendable {
  /// Id of the device whose sessions were sent.
  package let device: String
  /// Location of the store.
  package let store: String
  /// Sent and sealed sessions, and failures.
  package var upload = UploadReport()
  /// Logs of other programs, and folders, that cannot be read, with the reason.
  package var unreadable: [String: String] = [:]
  /// Number of deleted copies of sessions, local and remote.
  package var reaped = 0
  /// Whether the store was contacted; false during the backoff after a failure.
  package var hasContactedStore = true
  /// Sessions whose proven remote copy is gone.
  package var vanished = VanishedCopies()
  /// Sessions whose seal, or bytes, a listing of this pass lacks.
  var withoutCopy: Set<SessionID> = []
  /// Whether a failure of the store is to be reported.
  package var isReportDue = false

  /// Whether the store was contacted, and failed for all sessions.
  package var isStoreDown: Bool {
    hasContactedStore && upload.stoppedBy is StoreError && !upload.isStoppedBySessions
  }

  package init(device: String, store: String) { (self.device, self.store) = (device, store) }
}

/// An event of a pass.
package enum UploadPassEvent: Sendable {
  /// Number of log bytes to be sent, as far as known.
  case planned(bytes: ByteCount)
  /// An event of sending.
  case upload(UploadEvent)
  /// Nothing more is sent.
  case uploadEnded
  /// A log of another program can no longer be read.
  case unreadable(path: String, reason: String)
  /// Deletion by age is postponed.
  case postponed(ReapPlan.Postponement)
  /// The last copies of sessions expire within this time.
  case expiring([SessionID], within: Duration)
  /// Local sessions were found sealed in another store than the configured one.
  case sealedElsewhere(Int, configured: String)
  /// Something could not be deleted; one line for a person.
  case kept(String)
}
