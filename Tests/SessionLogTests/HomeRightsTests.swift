import Foundation
import Platform
import SessionLog
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
