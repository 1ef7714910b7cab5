import Foundation
import TestServers
import TestSupport
import Testing

/// How the scripts parse what servers answer.
@Suite(.tags(.large)) struct ShellListingTests {
  @Test(arguments: ["D:", "d:", "lp1:", ""])
  func `scripts parse WebDAV listings of all dialects`(namespace: String) async throws {
    // Paths as Apache, Nextcloud, rclone and Exchange write them.
    let roots = [
      "D:": "/r%26d/l%c3%b6gs/", "d:": "/r&amp;d/l%C3%B6gs/", "lp1:": "/r&#38;d/l%C3%b6gs/",
    ]
    let root = roots[namespace] ?? "http://other.name:80/r&amp;d/l%C3%B6gs/"
    func answer(_ entries: [(path: String, size: Int?)]) -> String {
      let n = namespace
      let responses = entries.map { path, size in
        let type = size == nil ? "<\(n)collection/>" : ""
        let length = size.map { "<\(n)getcontentlength>\($0)</\(n)getcontentlength>" } ?? ""
        let href = "<\(n)response><\(n)href>\n \(root)\(path)</\(n)href>"
        let found = "<\(n)resourcetype>\(type)</\(n)resourcetype>\(length)"
        let ok = "<\(n)status>HTTP/1.1 200 OK</\(n)status>"
        let missing = "<\(n)getcontentlength>7</\(n)getcontentlength>"
        let no = "<\(n)status>HTTP/1.1 404 Not Found</\(n)status>"
        func part(_ prop: String, _ status: String) -> String {
          "<\(n)propstat><\(n)prop>\(prop)</\(n)prop>\(status)</\(n)propstat>"
        }
        return href + part(found, ok) + part(missing, no) + "</\(n)response>"
      }
      let name = namespace.isEmpty ? "xmlns" : "xmlns:\(namespace.dropLast())"
      return ScriptedServer.answer(
        "207 Multi-Status",
        body: "<?xml version=\"1.0\"?><\(n)multistatus \(name)=\"DAV:\">\(responses.joined())"
          + "</\(n)multistatus>")
    }
    let day = "devices/abc/2026-01-22/"
    let id = "20260122t143005z-k3f9a7c2"
    let hash = "0123456789abcdef"
    let server = try ScriptedServer([
      ScriptedServer.answer("404 Not Found"),
      answer([("devices/", nil), ("devices/abc/", nil), ("devices/%2e%2e", nil), ("devices/x", 1)]),
      answer([("devices/abc", nil), (day, nil), ("devices/abc/device.json", 3)]),
      answer([
        (day, nil), ("\(day)\(id).s0002.crashed.000000000300.\(hash).9.json", 9),
        ("\(day)\(id).g1.000000000000-000000000200.\(hash).40.log.zst", 40),
        ("\(day)\(id).g1.000000000200-000000000300.\(hash).40.log%2Ezst", 39),
        ("\(day)\(id).s0003.active.000000000300.\(hash).%1b[31m.json", 9),
      ]),
    ])
    var program = try Program()
    program.environment["S"] = Program.scripts
    let result = try await program.script("\"$S/list-sessions.sh\" \(server.url)/r%26d/lögs")
    #expect(result.status == 0, "\(result.errors)")
    let words = result.text.split { $0 == " " || $0 == "\n" }
    #expect(words == [id[...], "abc", "crashed", "2026-01-22T14:30:05Z", "300", "200"])
    #expect(server.received.allSatisfy { $0.head.contains(" /r%26d/l%C3%B6gs/") })
  }

  @Test func `scripts list buckets page by page`() async throws {
    func page(_ content: String) -> String {
      ScriptedServer.answer(
        "200 OK",
        body: "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(content)"
          + "</ListBucketResult>")
    }
    func folder(_ name: String) -> String {
      "<CommonPrefixes><Prefix>p%2F\(name)%2F</Prefix></CommonPrefixes>"
    }
    func object(_ name: String, _ size: Int) -> String {
      "<Contents><Size>\(size)</Size><Key>p/devices/abc/2026-01-22/\(name)</Key>"
        + "<ETag>&quot;x&quot;</ETag></Contents>"
    }
    let id = "20260122t143005z-k3f9a7c2"
    let seal = "\(id).s0001.terminated.000000000200.0123456789abcdef.9.json"
    let segment = "\(id).g1.000000000000-000000000200.0123456789abcdef.40.log.zst"
    let token = "<NextContinuationToken>a/b+c=&amp;</NextContinuationToken>"
    let server = try ScriptedServer([
      ScriptedServer.answer("404 Not Found", body: "<Error><Code>NoSuchKey</Code></Error>"),
      page("<Prefix>p/devices/</Prefix>" + folder("devices%2Fabc")),
      page(folder("devices%2Fabc%2F2026-01-22")),
      page("<IsTruncated>true</IsTruncated>\(token)\(object(seal, 9))"),
      page("<IsTruncated>false</IsTruncated>" + object(segment, 40)),
    ])
    var program = try Program([
      "AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "a:b", "AWS_SECRET_ACCESS_KEY": "\"\\",
      "AWS_SESSION_TOKEN": "to/ken+==",
    ])
    program.environment["S"] = Program.scripts
    let result = try await program.script("\"$S/list-sessions.sh\" s3://logs/p")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text.split(separator: " ").suffix(2) == ["200", "200\n"])
    let last = try #require(server.received.last?.head)
    #expect(
      last.hasPrefix(
        "GET /logs/?continuation-token=a%2Fb%2Bc%3D%26&delimiter=%2F&encoding-type=url&list-type=2"
          + "&prefix=p%2Fdevices%2Fabc%2F2026-01-22%2F HTTP/1.1"))
    #expect(last.contains("Credential=a:b/") && last.contains("x-amz-security-token: to/ken+=="))
  }
}
