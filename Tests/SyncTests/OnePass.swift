import Sync

/// One pass over everything, as a process of its own would make it.
///
/// - Parameters:
///   - turn: who is looked at in spite of a pause.
///   - makeContext: opens the manifest anew.
func onePass(
  _ turn: Turn, in makeContext: () throws -> SyncContext
) async throws -> UploadReport {
  weak var manifest: Manifest?
  let report: UploadReport
  do {
    let context = try makeContext()
    manifest = context.manifest
    let uploader = Uploader(context)
    report = try await uploader.execute(uploader.plan(turn))
  }
  // SQLite removes files by name when it closes: the next process must not have made its own yet.
  while manifest != nil { await Task.yield() }
  return report
}
