import Platform
import Synchronization
import TidemarkUpload

extension Command {
  /// What `upload --dry-run` and `status` do in the middle of another process's pass.
  func preview(_ pass: UploadPass) throws {
    let watch = PlanWatch(process, besides: [home.cachePath + "/", home.lockPath])
    _ = try FileEffect.$hook.withValue(watch) { try pass.preview() }
    for change in watch.changes {
      oracle.report(.init(.planning, "\(process.name) plans, and changes \(change)"))
    }
  }
}

/// Notes the changes that a process makes to files.
private final class PlanWatch: FileEffects {
  private let process: SimulatedProcess
  private let ignored: [String]
  private let noted = Mutex<[String]>([])

  /// - Parameter ignored: how the paths of files begin whose changes do not count.
  init(_ process: SimulatedProcess, besides ignored: [String]) {
    (self.process, self.ignored) = (process, ignored)
  }

  var changes: [String] { noted.withLock(\.self) }

  func perform(_ effect: FileEffect, _ body: () -> Int) -> Int {
    if !ignored.contains(where: effect.path.hasPrefix), !effect.path.hasSuffix(".lock") {
      noted.withLock { $0.append("\(effect.path): \(effect.kind)") }
    }
    return process.perform(effect, body)
  }

  func random() -> UInt64 { process.random() }

  func status(_ status: FileStatus) -> FileStatus { process.status(status) }
}
