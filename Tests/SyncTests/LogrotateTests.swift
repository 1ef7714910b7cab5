import Platform

#if os(Linux)
  import Foundation
  import SessionLog
  import Sync
  import Synchronization
  import TestSupport
  import Testing

  /// The real logrotate, with passes before, between and after its runs.
  @Suite(.serialized, .shiftedTime, .tags(.medium)) struct LogrotateTests {
    private static let options = [
      "create", "copytruncate", "create\ncompress", "copytruncate\ncompress",
      "create\ncompress\ndelaycompress", "create\ndateext\ndateformat -%Y%m%d%H",
      "copytruncate\ndateext\ndateformat -%Y%m%d%H\ncompress\ndelaycompress",
      "create\nsharedscripts\npostrotate\ntrue\nendscript", "create\nextension .log",
    ]

    @Test(arguments: options, [1, 3])
    func `with any logrotate options, every line is in one session`(
      options: String, rotationsPerPass: Int
    ) async throws {
      let folder = try AttachedFolder("*.log*")
      var next = 0
      func write(_ count: Int) throws {
        try folder.append(next..<next + count, to: "app.log")
        next += count
      }
      try write(10)
      for _ in 0..<4 {
        try await folder.tick(after: rotationsPerPass == 1 ? 7200 : 0)
        for _ in 0..<rotationsPerPass {
          try write(7)
          try await folder.rotate("app.log", options)
          try write(3)
        }
      }
      for _ in 0..<2 { try await folder.tick(after: 7200) }
      let lines = try await folder.remoteLines()
      #expect(lines.flatMap { $0 } == Array(0..<next))
      #expect(lines.count == 4 * rotationsPerPass + 1)
      #expect(try await folder.gaps().isEmpty)
    }

    /// Several logs rotate at once; similar beginnings are not confused.
    @Test(arguments: options)
    func `rotated logs with the same start are not confused`(options: String) async throws {
      let folder = try AttachedFolder("*.log*")
      let head = (0..<200).map { _ in "the same start\n" }.joined()
      for name in ["a.log", "b.log"] { try folder.append(head, to: name) }
      try folder.append(0..<10, to: "a.log")
      try folder.append(1000..<1010, to: "b.log")
      try await folder.tick()
      try folder.append(10..<20, to: "a.log")
      try folder.append(1010..<1020, to: "b.log")
      try await folder.rotate("*.log", options)
      for name in ["a.log", "b.log"] { try folder.append(head, to: name) }
      try folder.append(20..<30, to: "a.log")
      try folder.append(1020..<1030, to: "b.log")
      try await folder.tick()
      try await folder.tick()
      let expected = [0..<20, 20..<30, 1000..<1020, 1020..<1030].map { Array($0) }
      #expect(try await folder.remoteLines() == expected)
      #expect(try await folder.gaps().isEmpty)
    }

    /// A program that logs all the time, reopens its log when it is renamed, and is rotated while
    /// passes run.
    @Test(arguments: ["create", "create\ncompress\ndelaycompress"])
    func `rotations during passes lose no lines of a busy writer`(options: String) async throws {
      let folder = try AttachedFolder("app.log*")
      let writer = EndlessWriter(path: folder.file("app.log"))
      async let written = writer.run()
      let passes = Task {
        while !Task.isCancelled {
          try await folder.tick(isDisturbed: true)
          await Task.yield()
        }
      }
      for _ in 0..<6 {
        await writer.wait(forLines: 500)
        try await folder.rotate("app.log", options)
      }
      passes.cancel()
      try? await passes.value
      writer.stop()
      let count = try await written
      for _ in 0..<3 { try await folder.tick(after: 7200) }
      let lines = try await folder.remoteLines()
      #expect(lines.flatMap { $0 } == Array(0..<count))
      #expect(try await folder.gaps().isEmpty)
    }
  }

  extension AttachedFolder {
    /// Runs logrotate on files of the folder, whether due or not.
    ///
    /// Each run is an hour later by its own clock: files with a date need distinct names.
    fileprivate func rotate(_ names: String, _ options: String) async throws {
      let configuration = "\"\(file(names))\" {\nrotate 100\nmissingok\n\(options)\n}\n"
      try Data(configuration.utf8).write(to: URL(filePath: site.local.folder + "/logrotate.conf"))
      let status = try await run(
        """
        chmod 755 . && chmod 644 ../logrotate.conf && echo >>../runs &&
        TZ=TEST$((12 - $(wc -l <../runs))) logrotate --force --state ../state ../logrotate.conf
        """)
      #expect(status == 0)
    }
  }

  /// A program that logs numbered lines without pause, and reopens its log when it is renamed.
  private final class EndlessWriter: Sendable {
    private let path: String
    private let isStopped = Atomic(false)
    private let count = Atomic(0)

    init(path: String) { self.path = path }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Returns when this number of further lines has been written.
    func wait(forLines more: Int) async {
      let wanted = count.load(ordering: .relaxed) + more
      while count.load(ordering: .relaxed) < wanted { await Task.yield() }
    }

    /// Writes until it is stopped.
    ///
    /// - Returns: the number of lines.
    @concurrent func run() async throws -> Int {
      var number = 0
      while !isStopped.load(ordering: .relaxed) {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw SystemError(operation: "open", path: path, errno: errno) }
        defer { close(file) }
        var (mine, there) = (stat(), stat())
        repeat {
          for _ in 0..<20 {
            let line = Array(AttachedFolder.line(number, 16).utf8)
            guard write(file, line, line.count) == line.count else {
              throw SystemError(operation: "write", path: path, errno: errno)
            }
            number += 1
          }
          count.store(number, ordering: .relaxed)
          await Task.yield()
          guard fstat(file, &mine) == 0 else { break }
        } while !isStopped.load(ordering: .relaxed) && stat(path, &there) == 0
          && there.st_ino == mine.st_ino
      }
      return number
    }
  }
#endif
