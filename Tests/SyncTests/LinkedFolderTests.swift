import Foundation
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// A folder of attached logs is exchanged for a link that leads out of the source.
@Suite(.shiftedTime, .tags(.medium)) struct LinkedFolderTests {
  @Test(arguments: [false, true])
  func `files behind a link are neither continued nor begun`(isAbove: Bool) async throws {
    let folder = try AttachedFolder("*/logs/*.log")
    try await folder.run("mkdir -p a/logs ../private/logs")
    try folder.append("root:\n", to: "a/logs/shadow.log")
    try folder.append(0..<3, to: "a/logs/app.log")
    try await folder.tick()
    try await folder.run(
      """
      cd ../private/logs && printf 'root:\\nSECRET\\n' >shadow.log && echo SECRET >app.log.1
      """)
    try await folder.run(
      isAbove
        ? "mv a ../gone && ln -s ../private a"
        : "mv a/logs ../gone && ln -s ../../private/logs a/logs")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    var texts: [String] = []
    for sidecar in try folder.sidecars() {
      texts.append(try await folder.remote(sidecar.sessionId))
    }
    #expect(texts.count == 2 && texts.contains { $0.contains("root:") }, "\(texts)")
    #expect(!texts.joined().contains("SECRET"), "\(texts)")
  }

  /// The order of a folder's entries is the file system's.
  @Test(arguments: ["..", "../b\\377/.."])
  func `links that a user made to a folder hide nothing behind root's link to it`(
    way: String
  ) async throws {
    var folder = try AttachedFolder("in/**")
    folder.sources[0].followsLinks = true
    let command = """
      mkdir -p in/mine "$(printf '\(way)' | sed 's#/..$##')" aside && cd in
      ln -s ../aside logs
      for n in {1..20}; do
        ln -s "$(printf '\(way)')/aside" $n; ln -s "$(printf '../\(way)')/aside" mine/$n
      done
      chown -h 65534 mine mine/* [0-9]*
      """
    #expect(try await folder.run(command) == 0)
    try folder.append(0..<10, to: "aside/app.log")
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<10)])
  }

  /// To where neither a pattern nor a link leads.
  @Test(arguments: [
    "mv data/app.log data/old/app.log.1", "cp data/app.log data/old/app.log.1 && : >data/app.log",
  ])
  func `what a linked log got after its session ended is sent from where rotation moved it`(
    rotation: String
  ) async throws {
    var folder = try AttachedFolder("in/*.log", idleEnd: 3600)
    folder.sources[0].followsLinks = true
    #expect(
      try await folder.run("mkdir -p in data/old && ln -s ../data/app.log in/app.log") == 0)
    try folder.append(0..<10, to: "data/app.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try folder.sidecars().map(\.status) == [.terminated])
    try folder.append(10..<20, to: "data/app.log")
    #expect(try await folder.run(rotation) == 0)
    try folder.append(20..<25, to: "data/app.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<25))
  }

  @Test func `a folder is searched for what each link to it can match`() async throws {
    var folder = try AttachedFolder("in/*/*/*.log")
    folder.sources[0].followsLinks = true
    #expect(
      try await folder.run(
        "mkdir -p in/two data/sub && ln -s ../../data in/two/deep && ln -s ../data in/one") == 0)
    try folder.append(0..<10, to: "data/app.log")
    try folder.append(10..<20, to: "data/sub/app.log")
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<20)])
  }

  @Test func `links that a user made to others' files are refused, even if links are followed`()
    async throws
  {
    var folder = try AttachedFolder("in/**")
    folder.sources[0].followsLinks = true
    try await folder.run(
      """
      mkdir -p in ../private && cd ../private && echo SECRET >shadow.log && echo mine >alice.log
      chown 65534 alice.log; chmod 755 . && cd ../logs/in
      ln -s ../../private/shadow.log file.log; ln -s file.log chain.log
      ln -s ../../private/alice.log alice.log; ln -s ../../private folder
      chown -h 65534 file.log alice.log folder
      """)
    try await folder.tick()
    var texts: [String] = []
    for sidecar in try folder.sidecars() {
      texts.append(try await folder.remote(sidecar.sessionId))
    }
    #expect(texts == ["mine\n"])
    let problems = try await folder.problems()
    #expect(
      Set(problems.keys)
        == Set(["in/file.log", "in/chain.log", "in/folder"].map(folder.file)))
    #expect(problems.values.allSatisfy { $0.contains("Permission denied") }, "\(problems)")
    try await folder.run("chown 65534 ../private ../private/shadow.log")
    try await folder.tick()
    #expect(try await folder.problems().isEmpty)
    #expect(try folder.sidecars().count == 2)
  }

  @Test func `rotated logs are found in a folder to which a pattern leads by a link`() async throws
  {
    let folder = try AttachedFolder("linked/*.log")
    #expect(try await folder.run("mkdir -p data/old && ln -s data linked") == 0)
    for (day, target) in ["linked/app.log.old", "linked/old/app.log.1"].enumerated() {
      try folder.append(day * 100..<day * 100 + 10, to: "linked/app.log")
      for _ in 0..<2 { try await folder.tick(after: 7200) }
      try folder.append(day * 100 + 10..<day * 100 + 100, to: "linked/app.log")
      #expect(try await folder.run("mv linked/app.log \(target); : >linked/app.log") == 0)
      try await folder.tick(after: 10)
    }
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<100), Array(100..<200)])
    #expect(try await folder.gaps().isEmpty)
  }

  /// As kubelet links and rotates the logs of containers.
  private func containers() async throws -> AttachedFolder {
    var folder = try AttachedFolder("containers/*.log")
    folder.sources[0].followsLinks = true
    #expect(
      try await folder.run("mkdir -p containers pod && ln -s ../pod/0.log containers/c.log") == 0)
    try folder.append(0..<100, to: "pod/0.log")
    try await folder.tick()
    return folder
  }

  @Test(arguments: ["true", "gzip pod/0.log.20260101-120001"])
  func `logs are found that were rotated beside the target of a link`(
    compress: String
  ) async throws {
    let folder = try await containers()
    for rotation in 1...2 {
      try folder.append(rotation * 100..<rotation * 100 + 100, to: "pod/0.log")
      #expect(try await folder.run("mv pod/0.log pod/0.log.20260101-12000\(rotation)") == 0)
    }
    #expect(try await folder.run(compress) == 0)
    try folder.append(300..<400, to: "pod/0.log")
    try await folder.tick(after: 10)
    try folder.append(400..<410, to: "pod/0.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(
      try await folder.remoteLines() == [
        Array(0..<200), Array(200..<300), Array(300..<410),
      ])
    #expect(try await folder.gaps().isEmpty)
  }

  @Test(arguments: ["true", "gzip -f pod/0.log.1"])
  func `logs are found beside the missing target of a link`(compress: String) async throws {
    let folder = try await containers()
    for rotation in 1...3 {
      try folder.append(rotation * 100..<rotation * 100 + 50, to: "pod/0.log")
      try await folder.tick(after: 7200)
      try folder.append(rotation * 100 + 50..<rotation * 100 + 100, to: "pod/0.log")
      let shift =
        "for n in 2 1; do for e in '' .gz; do ! test -f pod/0.log.$n$e || mv pod/0.log.$n$e "
      #expect(
        try await folder.run(
          "\(shift) pod/0.log.$((n + 1))$e; done; done; mv pod/0.log pod/0.log.1; \(compress)") == 0
      )
      try await folder.tick(after: 10)
      try await folder.tick(after: 7200)
    }
    let lines = try await folder.remoteLines()
    #expect(lines == [Array(0..<200), Array(200..<300), Array(300..<400)])
    #expect(try await folder.gaps().isEmpty)
  }

  @Test(arguments: ["pod/1.log", "pod2/0.log"], ["containers/*.log", "*/c.log"])
  func `a log is read to its end once its link leads to the next one`(
    next: String, pattern: String
  ) async throws {
    var folder = try await containers()
    folder.sources[0].path = try #require(SourcePattern(folder.file(pattern)))
    try await folder.tick()
    try folder.append(100..<110, to: "pod/0.log")
    #expect(try await folder.run("mkdir pod2; ln -sfn ../\(next) containers/c.log") == 0)
    try folder.append(200..<210, to: next)
    try await folder.tick()
    try folder.append(110..<120, to: "pod/0.log")
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<120), Array(200..<210)])
    try await folder.expectSealed(1)
  }

  @Test(arguments: [
    "ln -sfn ../pod/1.log containers/c.log", "rm containers/c.log", "configuration", "cache",
    "configuration, and a pass dies",
  ])
  func `what a log got after its session ended is sent though no link leads to it any more`(
    change: String
  ) async throws {
    var folder = try await containers()
    folder.sources[0].idleEnd = .seconds(3600)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try folder.sidecars().map(\.status) == [.terminated])
    try folder.append(100..<110, to: "pod/0.log")
    switch change {
    case "configuration", "configuration, and a pass dies":
      folder.sources[0].path = try #require(SourcePattern(folder.file("pod/1.log")))
      if change.contains("dies") { try AttachedFiles(folder.site.local.home).distrust() }
    case "cache":
      // It does not know whether the configuration has been changed.
      #expect(try await folder.run("rm containers/c.log") == 0)
      try folder.loseCache()
    default: #expect(try await folder.run(change) == 0)
    }
    try await folder.tick(after: 7200)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    let isSent = change.contains("containers")
    #expect(
      try await folder.remoteLines() == [Array(0..<100)] + (isSent ? [Array(100..<110)] : []))
    try await folder.expectSealed(isSent ? 2 : 1)
    #expect(try await folder.tick(after: 7200).changes.isEmpty)
  }

  @Test func `a log that was idle when it was found is looked at once more`() async throws {
    var folder = try AttachedFolder("in/*.log", idleEnd: 3600)
    folder.sources[0].followsLinks = true
    #expect(
      try await folder.run("mkdir -p in data && ln -s ../data/app.log in/app.log") == 0)
    try folder.append(0..<10, to: "data/app.log")
    try await folder.tick(after: 7200)
    #expect(try folder.sidecars().map(\.status) == [.terminated])
    try folder.append(10..<20, to: "data/app.log")
    try folder.remove("in/app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<20)])
  }

  /// Of what a pass that died has read, only what was sent is known.
  @Test(arguments: [false, true])
  func `a log whose source is removed ends with what was read`(isDead: Bool) async throws {
    var folder = try await containers()
    if isDead {
      try folder.append(100..<110, to: "pod/0.log")
      try folder.tickWithoutStore()
      try AttachedFiles(folder.site.local.home).distrust()
    }
    folder.sources[0].path = try #require(SourcePattern(folder.file("pod/1.log")))
    if !isDead { try folder.append(100..<110, to: "pod/0.log") }
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<(isDead ? 110 : 100))])
    try await folder.expectSealed(1)
  }

  @Test func `a folder whose name continues another's does not belong to its source`()
    async throws
  {
    var folder = try AttachedFolder("app/*.log", "in/*.log")
    for index in 0..<2 { folder.sources[index].app = index == 0 ? "app" : "linked" }
    folder.sources[1].followsLinks = true
    folder.sources[1].idleEnd = .seconds(3600)
    #expect(
      try await folder.run("mkdir -p app in apple && ln -s ../apple/x.log in/x.log") == 0)
    try folder.append(0..<10, to: "apple/x.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try folder.append(10..<20, to: "apple/x.log")
    try folder.remove("in/x.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try folder.sidecars().map(\.appName) == ["linked", "linked"])
  }

  @Test func `logs that logrotate moves to a folder beside the target of a link are found`()
    async throws
  {
    let folder = try await containers()
    #expect(try await folder.run("mkdir pod/old") == 0)
    for rotation in 1...3 {
      try folder.append(rotation * 100..<rotation * 100 + 100, to: "pod/0.log")
      #expect(try await folder.run("mv pod/0.log pod/old/0.log.\(rotation); : >pod/0.log") == 0)
      if rotation == 1 { for _ in 0..<2 { try await folder.tick(after: 7200) } }
    }
    try folder.append(400..<410, to: "pod/0.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<410))
    #expect(try await folder.gaps().isEmpty)
  }

  @Test func `who made a link decides about no other user's files beside its target`() async throws
  {
    let folder = try await containers()
    #expect(try await folder.run("chown -h 65534 containers/c.log pod/0.log") == 0)
    try await folder.tick(after: 7200)
    try folder.append("SECRET\n", to: "pod/0.log.1")
    #expect(try await folder.run("cp pod/0.log.1 pod/0.log.2; chown 65534 pod/0.log.2") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(
      try folder.sidecars().compactMap(\.source?.path).sorted()
        == ["0.log", "0.log.2"].map { folder.file("pod/\($0)") })
  }

  /// The file system gives the numbers of removed files to new ones.
  @Test func `a folder that leads to itself keeps no other user's log from being sent`()
    async throws
  {
    let folder = try AttachedFolder("**")
    #expect(try await folder.run("mkdir -p a/d b") == 0)
    try folder.append("line 0 of another log\n", to: "a/d/x.log")
    try await folder.tick()
    // The same number at another path, and no look at the first one.
    #expect(try await folder.run("ln a/d/x.log b/b.log && rm -r a/d && ln -s d a/d") == 0)
    try folder.append(100..<110, to: "b/b.log")
    for _ in 0..<2 { try await folder.tick(after: 10) }
    #expect(try await folder.remoteLines().flatMap(\.self).contains(109))
    #expect(try await folder.problems()[folder.file("b/b.log")] == nil)
  }

  /// It begins like the log that a user made beside it.
  @Test(arguments: ["s.log", "state"])
  func `a file of root that no source names is not taken for a user's log`(name: String)
    async throws
  {
    let folder = try AttachedFolder("\(name)")
    try folder.append("{", to: name)
    #expect(try await folder.run("chown 65534 \(name)") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try folder.append("{SECRET\n", to: "state.json")
    try folder.append("{SECRET\n", to: "\(name).1")
    try folder.modified("\(name).1", ago: 90_000)
    try folder.remove(name)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    for sidecar in try folder.sidecars() {
      #expect(try await !folder.remote(sidecar.sessionId).contains("SECRET"))
    }
  }
}
