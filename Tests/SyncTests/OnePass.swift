import Sync

/// One pass over everything, as by a separate process.
///
/// - Parameters:
///   - scope: which sessions ignore retry backoff.
///   - makeContext: opens the manifest again.
func onePass(
  _ scope: RetryScope, within time: Duration? = nil, in makeContext: () throws -> SyncContext
) async throws -> UploadReport {
  weak var manifest: Manifest?
  let report: UploadReport
  do {
    let context = try makeContext()
    manifest = context.manifest
    let uploader = Uploader(context)
    report = try await uploader.execute(uploader.plan(scope), within: time)
  }
  // SQLite removes files by name when it closes: the next process must not have created its own
  // yet.
  while manifest != nil { await Task.yield() }
  return report
}
