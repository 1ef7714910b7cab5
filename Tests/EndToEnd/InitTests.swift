import Foundation
import TestServers
import TestSupport
import Testing

/// `tidemark init`, and the other commands on a folder that it has not created.
@Suite(.tags(.large)) struct InitTests {
  private func names(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  @Test func `init creates the folder and its marker, and nothing else`() async throws {
    let program = try Program()
    let root = program.folder.path + "/nas/logs"
    let made = try await program.run("init", "file://\(root)")
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.text.contains("Made the folder \(root)."))
    #expect(try names(root) == ["tidemark.json"])
    let again = try await program.run("init", "file://\(root)")
    #expect(again.status == 0 && !again.text.contains("Made"))
    #expect(try names(root) == ["tidemark.json"])
    #expect(try names(program.home).contains("stores.json") == false)
  }

  @Test func `init keeps the consent that the configuration states`() async throws {
    let program = try Program()
    let url = "file://\(program.folder.path)/store"
    #expect(try await program.run("init", url).text.contains("(consent: logs)"))
    for consent in ["none", "metadata"] {
      try await program.configure {
        $0.replacing("consent: logs", with: "consent: \(consent)")
          .replacing("consent: none", with: "consent: \(consent)")
      }
      let again = try await program.run("init", url)
      #expect(again.status == 0 && again.text.contains("(consent: \(consent))"), "\(again.errors)")
      let report = try await program.run("init", "--json", url)
      #expect(report.text.contains(#""consent":"\#(consent)""#), "\(report.text)")
      try await program.configure { text in
        #expect(text.contains("\nconsent: \(consent)\n"))
        return text
      }
    }
  }

  @Test func `init without a URL or a configured store is a usage error`() async throws {
    let result = try await Program().run("init")
    #expect(result.status == 64 && result.errors.contains("--restore-marker"))
  }

  @Test func `init restores the marker in the named store`() async throws {
    let program = try Program()
    let root = program.folder.path + "/first"
    try await program.run("init", "file://\(root)")
    try await program.record("echo", "kept")
    try await program.run("init", "file://\(root)-other")
    try FileManager.default.removeItem(atPath: root + "/tidemark.json")
    let refused = try await program.run("init", "file://\(root)")
    #expect(refused.status == 78 && refused.errors.contains("--restore-marker"))
    #expect(try await program.run("init", "--restore-marker", "file://\(root)").status == 0)
    #expect(try await program.run("init", "file://\(root)").status == 0)
  }

  /// The folder that a home uses is replaced by an empty one, and comes back.
  @Test func `an unmounted share is not taken for an empty store`() async throws {
    let program = try Program()
    let root = program.folder.path + "/store"
    try await program.run("init", "file://\(root)")
    try await program.record("echo", "kept")
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    try FileManager.default.moveItem(atPath: root, toPath: root + "-away")
    let commands = [
      ["upload"], ["reap", "--older-than", "1s", "--yes"],
      ["reap", "--local", "--older-than", "1s", "--yes"],
      ["reap", "--remote"], ["doctor"], ["init", "file://\(root)"],
    ]
    for command in commands {
      let result = try await program.run(command)
      #expect(result.status == 78, "\(command): \(result.errors)")
      #expect(result.errors.contains("does not exist"), "\(command): \(result.errors)")
    }
    #expect(try await program.run("list").status == 78)
    #expect(!FileManager.default.fileExists(atPath: root))
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    // Without a terminal the same upload reports it again after an hour.
    for command in [["upload", "--json"]] + commands.dropFirst() {
      let result = try await program.run(command)
      #expect(result.status == 78, "\(command): \(result.errors)")
      let said = result.text + result.errors
      #expect(said.contains("--restore-marker"), "\(command): \(said)")
    }
    #expect(try names(root).isEmpty)
    #expect(try program.log(id).isEmpty == false)
    try FileManager.default.removeItem(atPath: root)
    // A share that is not mounted is not created either.
    let missing = try await program.run("init", "--restore-marker")
    #expect(missing.status == 78 && missing.errors.contains("mount it"), "\(missing.errors)")
    #expect(!FileManager.default.fileExists(atPath: root))
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    let restored = try await program.run("init", "--restore-marker")
    #expect(restored.status == 0 && restored.text.contains("Wrote file://\(root)/tidemark.json."))
    #expect(try names(root) == ["tidemark.json"])
    let again = try await program.run("init", "--restore-marker")
    #expect(again.status == 0 && again.text.contains("is there; nothing was written"))
    // The session is not in the present store: nothing proves it.
    #expect(
      try await program.run("reap", "--local", "--older-than", "1s", "--yes", "--explain").text
        .contains("keep local \(id)"))
    try FileManager.default.removeItem(atPath: root)
    try FileManager.default.moveItem(atPath: root + "-away", toPath: root)
    #expect(try await program.run("upload").status == 0)
    #expect(try await program.run("verify").status == 0)
  }

  @Test func `a folder that does not exist is created only by init`() async throws {
    let root = "/nowhere-\(UInt64.random(in: .min ... .max))/logs"
    let program = try Program(["TIDEMARK_STORE": "file://\(root)"])
    try await program.run("run", "--no-upload", "--", "echo", "kept")
    let result = try await program.run("upload")
    #expect(result.status == 78)
    #expect(result.errors.contains("for a new store, run 'tidemark init file://\(root)' once."))
    #expect(!FileManager.default.fileExists(atPath: root))
    let restored = try await program.run("init", "--restore-marker")
    #expect(restored.status == 78 && restored.errors.contains("does not exist"))
  }

  // As the server sees it: a file that is removed beside it may still be served for a while.
  private let deleteOverWebDAV = """
    curl -fsS -u "$TIDEMARK_WEBDAV_USER:$TIDEMARK_WEBDAV_PASSWORD" -X DELETE "$URL/tidemark.json"
    """
  private let deleteOnS3 = """
    curl -fsS --aws-sigv4 aws:amz:us-east-1:s3 -u "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \
      -X DELETE "$AWS_ENDPOINT_URL/logs/prefix/tidemark.json"
    """

  @Test(arguments: [Endpoint.Kind.webdav, .s3])
  func `an emptied store is not taken for a new one`(_ kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    var program = try Program(endpoint)
    program.environment["TIDEMARK_STORE"] = endpoint.url
    // Without init: the store is new, even after doctor has left its folder.
    #expect(try await program.run("doctor").status == 0)
    try await program.run("run", "--no-upload", "--", "echo", "one")
    let first = try await program.run("upload")
    #expect(first.status == 0, "\(first.errors)")
    let emptied = try await program.shell(
      """
      \(kind == .s3 ? deleteOnS3 : deleteOverWebDAV)
      rm -r "$TIDEMARK_HOME/cache"
      "$T" run --no-upload -- echo two
      "$T" upload
      """)
    #expect(emptied.status == 78 && emptied.errors.contains("--restore-marker"))
    #expect(try await program.run("doctor").status == 78)
    let restored = try await program.run("init", "--restore-marker")
    #expect(restored.status == 0, "\(restored.errors)")
    let second = try await program.run("upload", "--now")
    #expect(second.status == 0, "\(second.errors)")
    #expect(try await program.list().count == 2)
  }
}
