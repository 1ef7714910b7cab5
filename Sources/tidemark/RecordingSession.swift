import Foundation
import LogRecords
import Platform
import SessionLog
import SessionRecorder
import Sync

/// Records a session, if possible, and uploads it meanwhile: any failure costs one line of output,
/// never the program.
final class RecordingSession {
  let writer: SessionWriter?
  private let setup: CommandContext?
  private let uploads: Bool
  private var schedule: UploadSchedule
  private var upload: UploadProcess?

  /// How long to wait for the upload at the end.
  private static let patience = Duration.seconds(10)
  /// How long an unfinished line on a terminal, such as a prompt, waits before it is recorded.
  private static let terminalPatience = Duration.milliseconds(100)

  init(
    app: String, isAsIs: Bool = false, isOnTerminal: Bool = false,
    scenarios: [ScenarioName] = [], uploads: Bool,
    _ diagnostics: DiagnosticOptions
  ) {
    do {
      let setup = try CommandContext(
        acceptsBadSettings: true, logger: diagnostics.loggerOrComplaint())
      var options = setup.settings.recording
      options.localMax = setup.settings.retention.localMax
      options.scenarios = scenarios
      options.report = { Console.complain($0) }
      if isAsIs { options.format = .asIs }
      if isOnTerminal { options.patience = Self.terminalPatience }
      writer = try SessionWriter(
        home: setup.home, device: setup.device, appName: app, options: options,
        machine: .current)
      self.setup = setup
    } catch {
      Console.complain("this session is not recorded: \(error)")
      (setup, writer) = (nil, nil)
    }
    self.uploads = uploads && setup?.sends == true
    schedule = UploadSchedule(
      interval: setup?.settings.uploadEvery, now: Machine.current.uptime())
  }

  /// Starts an upload if one is due and none is running.
  func pass(_ activity: SessionActivity) {
    if let status = upload?.status {
      if status != ExitStatus.ok.rawValue { schedule.retry() }
      upload = nil
    }
    guard uploads, let setup,
      schedule.begins(activity, now: Machine.current.uptime(), isBusy: upload != nil)
    else { return }
    upload = UploadProcess(of: setup)
    if upload == nil { schedule.retry() }
  }

  /// Ends the session, and waits a while for the last upload.
  func end(_ cause: ExitCause, core: String? = nil) async {
    guard let writer, let setup else { return }
    do {
      try writer.end(cause, core: core)
    } catch {
      Console.complain("\(error)")
    }
    if cause.status == .crashed { await Hooks(setup).reportCrashes(besides: writer.session) }
    guard uploads else { return }
    guard let last = UploadProcess(of: setup, waits: Self.patience) else { return }
    // The upload continues in the background, and cron reports errors; a person at a terminal wants
    // to know now.
    switch last.status(within: Self.patience) {
    case nil: Console.remark("tidemark: upload continues in the background")
    case .some(0): break
    case .some:
      let told = last.complaints
      Console.remark(
        told.isEmpty ? "tidemark: not uploaded yet; 'tidemark upload' says why" : told)
    }
  }
}
