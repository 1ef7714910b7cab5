import Sync
import TidemarkUpload

/// The exit status of an upload.
extension Upload {
  /// Why a pass that sent all it could was partial, with one line for each session that somebody has
  /// to act for; empty if it failed otherwise, which is reported already.
  static func reasons(ofPartial report: UploadReport) -> [String] {
    guard report.stoppedBy == nil, report.failures.isEmpty else { return [] }
    return report.skipped.filter { $0.kind == .problem }.map { "\($0.session): \($0.reason)" }
  }

  /// - Parameter cacheProblem: why the cache cannot be read; nil if it can. The pass did without.
  static func status(of pass: UploadPassReport, _ cacheProblem: String? = nil) -> ExitStatus {
    let status = status(of: pass.upload)
    let isPartial =
      !pass.vanished.isEmpty || !pass.unreadable.isEmpty || cacheProblem != nil
    return status == .ok && isPartial ? .partial : status
  }

  static func status(of report: UploadReport) -> ExitStatus {
    if let error = report.stoppedBy { return ExitStatus(error) }
    guard !report.failures.isEmpty else {
      let kinds = report.skipped.map(\.kind)
      let isPartial = kinds.contains(.problem) || !report.formerDevices.isEmpty
      let isForLater = kinds.contains(.transient) || !report.leftToNextPass.isEmpty
      return isPartial ? .partial : isForLater ? .tryLater : .ok
    }
    guard report.objects == 0 else { return .partial }
    return ExitStatus(of: report.failures.map { ExitStatus($0.error) })
  }

  /// The status of a pass that did nothing, because another upload of the home is running.
  ///
  /// That one may have planned before a recorder's newest lines, or send less than this one was to.
  func statusOfBusyHome(continues: Bool) -> ExitStatus {
    forRecorder || continues ? .tryLater : .ok
  }
}
