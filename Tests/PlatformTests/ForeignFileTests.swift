import Foundation
import Platform
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Files below folders of other users, opened by root.
@Suite(.tags(.medium)) struct ForeignFileTests {
  private static let other: uid_t = 65_534
  private let home: TestHome

  init() throws {
    home = try TestHome()
    for name in ["logs", "private"] {
      try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
      try Data("\(name)\n".utf8).write(to: URL(filePath: path(name + "/app.log")))
    }
  }

  private func path(_ name: String) -> String { "\(home.folder)/\(name)" }

  private func link(_ name: String, to target: String, owner: uid_t) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path(name), withDestinationPath: target)
    try #require(lchown(path(name), owner, owner) == 0)
  }

  private func text(_ name: String) throws -> String {
    let file = try OpenFile(foreign: path(name))
    return String(decoding: try file.read(at: 0, count: 100), as: UTF8.self)
  }

  @Test(arguments: ["private", "./private/../private", "..", "absolute"])
  func `a link counts if root, or the owner of the file, made it`(target: String) throws {
    let goal = target == "absolute" ? path("private") : target
    let file =
      target == ".." ? "\(home.folder.split(separator: "/").last ?? "")/private/app.log" : "app.log"
    try link("ours", to: goal, owner: 0)
    try link("theirs", to: goal, owner: Self.other)
    #expect(try text("ours/\(file)") == "private\n")
    let error = #expect(throws: SystemError.self) { try text("theirs/\(file)") }
    #expect(error?.description.contains("another user made") == true)
    try #require(chown(path("private/app.log"), Self.other, Self.other) == 0)
    #expect(try text("theirs/\(file)") == "private\n")
    #expect(try text("ours/\(file)") == "private\n")
  }

  @Test func `links that lead nowhere, to themselves or to folders are errors`() throws {
    try link("none", to: "missing", owner: 0)
    try link("round", to: "round", owner: 0)
    try link("last.log", to: "logs/app.log", owner: 0)
    #expect(throws: SystemError.self) { try text("none/app.log") }
    #expect(throws: SystemError.self) { try text("round/app.log") }
    for name in ["last.log", "logs", "logs/app.log/x", "logs/missing.log"] {
      #expect(throws: SystemError.self, "\(name)") { try text(name) }
    }
    let missing = #expect(throws: SystemError.self) { try text("logs/missing.log") }
    #expect(missing?.isNotFound == true)
    #expect(try text("logs/./app.log") == "logs\n")
  }

  @Test func `a link at the path itself is followed on demand, by the same rule`() throws {
    try link("theirs.log", to: "private/app.log", owner: Self.other)
    try link("chain.log", to: "theirs.log", owner: 0)
    try link("ours.log", to: "private/../private/app.log", owner: 0)
    func isOpened(_ name: String) throws -> Bool {
      do {
        return try Descriptor(openingForeign: path(name), followsLast: true).status().kind == .file
      } catch  where error.isDenied {
        return false
      }
    }
    #expect(try isOpened("ours.log"))
    #expect(try !isOpened("theirs.log"))
    #expect(try !isOpened("chain.log"))
    #expect(try File.resolveForeign(path("ours.log")) == File.resolve(path("private/app.log")))
    for name in ["theirs.log", "chain.log"] {
      let error = #expect(throws: SystemError.self) { try File.resolveForeign(path(name)) }
      #expect(error?.isDenied == true)
    }
    #expect(throws: SystemError.self) { try File.resolveForeign(path("private")) }
    try #require(chown(path("private/app.log"), Self.other, Self.other) == 0)
    #expect(try isOpened("theirs.log") && isOpened("chain.log") && isOpened("ours.log"))
  }
}
