import ObjectStore
import TestSupport
import Testing

@Suite(.tags(.small)) struct StoreURLTests {
  @Test(arguments: [
    ("s3://bucket", "s3://bucket"), ("s3://bucket/", "s3://bucket"),
    ("s3://my.bucket-1/a//b/", "s3://my.bucket-1/a/b"),
    ("https://Host.example/dav/x/", "https://host.example/dav/x"),
    ("https://h/a b", ""), ("https://h:443/a%20c", "https://h/a%20c"),
    ("https://h:8443/ä", "https://h:8443/%C3%A4"), ("https://h/a@b", "https://h/a%40b"),
    ("http://localhost:8080/dav", "http://localhost:8080/dav"),
    ("http://127.0.0.2/x", "http://127.0.0.2/x"), ("http://[::1]:8/x", "http://[::1]:8/x"),
    ("file:///srv/log%20s/", "file:///srv/log s"), ("file:///a%25%20b", "file:///a%25 b"),
    ("file://localhost/srv", "file:///srv"),
    ("http://example.com/x", ""), ("http://127.0.0.1.evil.com/", ""),
    ("http://localhost.evil/", ""),
    ("https://user:pw@host/x", ""), ("s3://key:secret@bucket/x", ""), ("https:///x", ""),
    ("https://h:0/x", ""), ("https://h:99999/", ""), ("https://h/a/../b", ""), ("https://h/?q", ""),
    ("https://h/%2e%2e/b", ""),
    ("s3://b", ""), ("s3://", ""), ("s3://bucket/ä", ""), ("s3://bucket/../x", ""),
    ("file://host/x", ""), ("file://rel", ""), ("file:///", ""), ("file:///a/../b", ""),
    ("ftp://h/x", ""), ("/srv/logs", ""), ("", ""), ("https://h\u{0}/", ""),
  ])
  func `store URLs are normalized, or refused with advice and no password`(
    _ text: String, canonical: String
  ) throws {
    guard !canonical.isEmpty else {
      let error = #expect(throws: StoreError.self) { try StoreURL(text) }
      #expect(error?.code == .configuration)
      #expect(error?.advice.isEmpty == false)
      #expect(error?.description.contains("pw") == false)
      #expect(error?.description.contains("secret") == false)
      return
    }
    #expect(try StoreURL(text).description == canonical)
    #expect(try StoreURL(canonical).description == canonical)
  }

  @Test(arguments: [
    "https://u:p/w@host/x", "u:secret@host", "https://host/x?sig=secret@", "https://host/#secret@",
    "https://secret?@host/x", "https://host/x?secret",
  ])
  func `an invalid store URL is reported without its password`(_ text: String) {
    let error = #expect(throws: StoreError.self) { try StoreURL(text) }
    #expect(error?.description.contains("p/w") == false)
    #expect(error?.description.contains("secret") == false)
  }
}
