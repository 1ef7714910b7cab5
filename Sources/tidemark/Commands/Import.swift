import ArgumentParser
import Foundation
import LogRecords
import ObjectStore
import Platform
import SessionLog
import Sync

/// `tidemark import FILE…`.
struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import existing log files as sessions; .gz and .zst are unpacked.",
    discussion: """
      The files are read where they are by the next upload, and must stay until then. A file that was \
      imported before is named with its session; what was appended to it since is imported as another. A link, or one on the way, is followed only if you, root \
      or the file's owner made it. For logs that still grow use 'sources:' in the \
      configuration.

      With --json one object a line: path, session, isNew; with --dry-run session only \
      where the file was imported before.

      Examples:
        tidemark import /var/log/app.log.1.gz --app billing
      """)

  @Argument(help: "The files.", completion: .file())
  var files: [String]
  @Option(
    help: ArgumentHelp(
      "The program that wrote them; by default the file's name up to its first dot.",
      valueName: "name"))
  var app: String?
  @Option(
    help: ArgumentHelp("The user that it ran as; by default the file's owner.", valueName: "name"))
  var user: String?
  @Option(help: ArgumentHelp("The category of records that name none.", valueName: "name"))
  var category: String?
  @Option(
    help: ArgumentHelp(
      "How large a compressed file may become: 10GB; by default 250 times its size, or 1 GiB.",
      valueName: "size"),
    transform: ArgumentValue.size)
  var maxSize: ByteCount?
  @Flag(help: "Import nothing; print what would be.")
  var dryRun = false
  @Flag(help: "One JSON object a line.")
  var json = false
  @OptionGroup var diagnostics: DiagnosticOptions

  func run() async throws {
    let setup = try CommandContext(logger: diagnostics.logger())
    let context = try setup.context()
    let lock = try setup.requireLock(unless: dryRun)
    let attacher = try Attacher(context, sources: setup.sources)
    var failed = 0
    for file in files {
      do {
        let path = try File.resolveForeign(file)
        guard let pattern = SourcePattern(path) else {
          throw Failure(.usage, "\(String(printable: file.utf8)) names no file")
        }
        guard let lock else {
          try say(Line(path: path, session: attacher.session(of: path), isNew: nil))
          continue
        }
        var source = LogSource(path: pattern, app: app, user: user, category: category)
        source.maxSize = maxSize
        let (session, isNew) = try attacher.adopt(path, as: source, holding: lock)
        try say(Line(path: path, session: session, isNew: isNew))
      } catch let error as SystemError {
        Console.complain("\(error)")
        failed += 1
      }
    }
    if failed > 0 { throw failed == files.count ? ExitStatus.configuration : .partial }
    if !dryRun { Console.remark("'tidemark upload' sends them") }
  }

  private struct Line: Encodable {
    let path: String
    let session: SessionID?
    let isNew: Bool?
  }

  private func say(_ line: Line) throws {
    guard !json else { return Console.say(try Console.json(line)) }
    let path = String(oneLine: line.path)
    guard let session = line.session else { return Console.say("would import \(path)") }
    Console.say("\(session)  \(path)\(line.isNew == true ? "" : "  already imported")")
  }
}
