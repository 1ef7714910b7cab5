import Platform
import Synchronization
import TidemarkUpload

extension Command {
  /// What `upload --dry-run` and `status` do, also in the middle of another process's pass.
  func preview(_ pass: UploadPass) throws {
    let watch = PlanWatch(process, cache: home.cachePath)
    _ = try FileEffect.$hook.withValue(watch) { try pass.preview() }
    for change in watch.changes {
      oracle.report(.init(.planning, "\(process.name) plans, and changes \(change)"))
    }
  }
}

/// Notes the changes that a process makes to files other than locks and those of a cache.
private final class PlanWatch: FileEffects {
  private let process: SimulatedProcess
  private let cache: String
  private let noted = Mutex<[String]>([])

  init(_ process: SimulatedProcess, cache: String) { (self.process, self.cache) = (process, cache) }

  var changes: [String] { noted.withLock(\.self) }

  func perform(_ effect: FileEffect, _ body: () -> Int) -> Int {
    if !effect.path.hasPrefix(cache + "/"), !effect.path.hasSuffix(".lock") {
      noted.withLock { $0.append("\(effect.path): \(effect.kind)") }
    }
    return process.perform(effect, body)
  }

  func random() -> UInt64 { process.random() }

  func status(_ status: FileStatus) -> FileStatus { process.status(status) }
}
