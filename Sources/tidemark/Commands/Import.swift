import ArgumentParser
import Foundation
import LogRecords
import ObjectStore
import Platform
import Sync

/// `tidemark import FILE…`.
struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Make sessions of log files as they stand, .gz and .zst unpacked.",
    discussion: """
      The files are read where they are by the next upload, and must stay until then. A file that is \
      known already is named with its session. For logs that still grow use 'sources:' in the \
      configuration.
      """)

  @Argument(help: "The files.")
  var files: [String]
  @Option(help: "The program that wrote them; by default the file's name up to its first dot.")
  var app: String?
  @Option(help: "The user that it ran as; by default the file's owner.")
  var user: String?
  @Option(help: "The category of records that name none.")
  var category: String?
  @OptionGroup var diagnostics: DiagnosticOptions

  func run() async throws {
    let place = try Workplace(logger: diagnostics.logger())
    let context = try place.context()
    let lock = try place.requireLock()
    let attacher = try Attacher(context, sources: place.sources)
    var failed = 0
    for file in files {
      do {
        let path = URL(filePath: file).standardizedFileURL.resolvingSymlinksInPath().path
        guard let pattern = SourcePattern(path) else {
          throw Failure(.usage, "\(String(printable: file.utf8)) names no file")
        }
        let source = LogSource(path: pattern, app: app, user: user, category: category)
        let (session, isNew) = try attacher.adopt(path, as: source, holding: lock)
        Console.say("\(session)  \(String(printable: path.utf8))\(isNew ? "" : "  known already")")
      } catch let error as SystemError {
        Console.complain("\(error)")
        failed += 1
      }
    }
    if failed > 0 { throw failed == files.count ? ExitStatus.configuration : .partial }
    Console.remark("'tidemark upload' sends them")
  }
}
