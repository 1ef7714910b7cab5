import Foundation
import Platform
@testable import SessionLog
import TestSupport
import Testing

/// A home is accessible only to its user, however its folder was created.
@Suite(.tags(.small)) struct HomeRightsTests {
  private func rights(_ home: Home) throws -> UInt32 {
    try #require(try FileStatus(home.path)).rights
  }

  @Test func `a home accessible to others is made private`() throws {
    let local = try TestHome()
    let home = local.home
    try home.create()
    for folder in ["keep", "trash", "deletions", "rules"] {
      try Directory.makeOne("\(home.path)/\(folder)")
    }
    for mode: UInt32 in [0o755, 0o750, 0o777] {
      try File.setMode(mode, of: home.path)
      try home.create()
      #expect(try rights(home) == 0o700)
    }
  }

  @Test func `the permissions of a folder with foreign content stay unchanged`() throws {
    let local = try TestHome()
    let home = local.home
    try home.create()
    try Directory.makeOne("\(home.path)/public_html")
    try File.setMode(0o755, of: home.path)
    try home.create()
    #expect(try rights(home) == 0o755)
  }
}

/// Another user's home is not used.
@Suite(.tags(.small)) struct HomeTrustTests {
  private static let other: UInt32 = 48_211

  @Test(.enabled(if: getuid() == 0, "only root can give a folder away"))
  func `root uses no home that another user can exchange`() throws {
    let local = try TestHome()
    let home = local.home
    try home.create()
    try home.checkTrust()
    #expect(chown(home.path, Self.other, Self.other) == 0)
    #expect(throws: ForeignHome.self) { try home.checkTrust() }
    #expect(throws: ForeignHome.self) { try home.create() }
    #expect(chown(home.path, 0, 0) == 0)
    // A folder above it suffices to exchange it, and so does a link on the way.
    let below = Home(path: home.path + "/alice/.local/state/tidemark")
    try below.create()
    let alice = home.path + "/alice"
    #expect(chown(alice, Self.other, Self.other) == 0)
    let error = #expect(throws: ForeignHome.self) { try below.checkTrust() }
    #expect("\(try #require(error))".contains("\(alice), on the way to \(below.path), belongs to"))
    #expect(chown(alice, 0, 0) == 0)
    let link = home.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "alice/../alice")
    try Home(path: link + "/.local").checkTrust()
    #expect(lchown(link, Self.other, Self.other) == 0)
    #expect(throws: ForeignHome.self) { try Home(path: link + "/.local").checkTrust() }
  }

  @Test func `links that lead in a circle are refused`() throws {
    let local = try TestHome()
    let folder = local.home
    let path = folder.path + "/a"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "b")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/b", withDestinationPath: path)
    #expect(throws: SystemError.self) {
      try PathOwners.first(on: path + "/c", besides: [Account.effective])
    }
    #expect(try PathOwners.first(on: folder.path + "/none/x", besides: [Account.effective]) == nil)
  }
}
