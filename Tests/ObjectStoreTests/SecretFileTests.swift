import Foundation
import TestServers
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.small)) struct SecretFileTests {
  @Test(.timeLimit(.minutes(1)))
  func `a pipe in the place of a secret's file is not waited for`() throws {
    let folder = try TemporaryDirectory()
    defer { withExtendedLifetime(folder) {} }
    let (path, link) = (folder.path + "/secret", folder.path + "/link")
    #expect(mkfifo(path, 0o600) == 0)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(SecretFile.firstLine(of: path) == nil && SecretFile.firstLine(of: link) == nil)
    try FileManager.default.removeItem(atPath: path)
    try "one\ntwo\n".write(toFile: path, atomically: false, encoding: .utf8)
    #expect(SecretFile.firstLine(of: path) == "one" && SecretFile.firstLine(of: link) == "one")
  }
}
