import Foundation
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

/// Names that are difficult in a listing: ours, and foreign ones beside them.
@Suite(.tags(.large)) struct StoreNamesTests {
  /// Names that cannot be keys.
  static let foreign = [
    "with space", "a+b", "100%", "%41", "%2F", "#hash", "what?", "a&b", "quote\"s", "apo'strophe",
    "<tag>", "semi;colon=", "back\\slash", "[brackets]", "colon:", "naïve", "nai\u{308}ve", "日本語",
    "🌊", "~tilde", "comma,", "(round)", "at@", "dollar$", "!bang", "star*",
  ]
  /// Names that some servers cannot express, or turn into broken XML.
  static let hostile: [String: [UInt8]] = [
    "newline": Array("new\nline".utf8), "control": Array("bell\u{7}".utf8),
    "not UTF-8": [0x62, 0x61, 0x64, 0xff],
  ]

  @Test(arguments: Backend.allCases)
  func `foreign names are left out of listings`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    try opened.makeFolder("odd")
    for name in Self.foreign {
      try Data([1, 2]).write(to: opened.file("odd").appending(path: name))
      try FileManager.default.createDirectory(
        at: opened.file("odd").appending(path: name + ".d"), withIntermediateDirectories: true)
      try Data([1]).write(to: opened.file("odd").appending(path: name + ".d/x"))
    }
    for key in ["odd/a", "odd/z"] { _ = try await opened.store.put(key, [1]) }
    let page = try await opened.store.listAll("odd/")
    #expect(page.objects.map(\.key) == ["odd/a", "odd/z"])
    #expect(page.directories.isEmpty)
    #expect(try await opened.store.listAll("").directories == ["odd/"])
  }

  @Test(arguments: Backend.allCases, hostile.keys.sorted())
  func `a hostile name never hides valid objects`(_ backend: Backend, name: String) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    try opened.makeFolder("odd")
    let path = Array(opened.file("odd").path.utf8) + [0x2f] + (Self.hostile[name] ?? [])
    let file = open(path.map { CChar(bitPattern: $0) } + [0], O_WRONLY | O_CREAT, 0o644)
    try #require(file >= 0)
    close(file)
    for key in ["odd/a", "odd/z"] { _ = try await opened.store.put(key, [1]) }
    if let code = backend.traits.unlistable[name] {
      let error = await #expect(throws: StoreError.self) {
        try await opened.store.listAll("odd/")
      }
      #expect(error?.code == code, "\(String(describing: error))")
    } else {
      #expect(try await opened.store.listAll("odd/").objects.map(\.key) == ["odd/a", "odd/z"])
    }
    #expect(try await opened.store.get("odd/a") == [1])
  }

  @Test(arguments: Backend.allCases)
  func `every valid key is stored and listed unchanged`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    let keys = ["k/-", "k/0.9_-z", "k/A-Z", "k/_", "k/a..b", "k/x."]
    for key in keys { _ = try await opened.store.put(key, Array(key.utf8)) }
    for key in keys { #expect(try await opened.store.get(key) == Array(key.utf8)) }
    _ = try await opened.store.put("k/.hidden", [1])
    #expect(try await opened.store.get("k/.hidden") == [1])
    let listed = try await opened.store.listAll("k/").objects.map(\.key)
    #expect(listed == (backend.traits.listsDotFiles ? ["k/-", "k/.hidden"] : ["k/-"]) + keys[1...])
  }

  @Test(arguments: Backend.allCases)
  func `a long name is stored or refused with an error`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    let longest = "n/" + String(repeating: "x", count: 255)
    let usual = "n/" + String(repeating: "y", count: 200)
    _ = try await opened.store.put(usual, [1])
    if let code = backend.traits.refusesLongNames {
      let error = await #expect(throws: StoreError.self) {
        try await opened.store.put(longest, [1])
      }
      #expect(error?.code == code, "\(String(describing: error))")
    } else {
      _ = try await opened.store.put(longest, [2])
      #expect(try await opened.store.get(longest) == [2])
    }
    #expect(try await opened.store.listAll("n/").objects.map(\.key).contains(usual))
    let error = await #expect(throws: StoreError.self) {
      try await opened.store.put(longest + "x", [1])
    }
    #expect(error?.code == .unsupported)
  }

  @Test(arguments: Backend.allCases)
  func `a key below an object is stored or refused with an error`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    _ = try await opened.store.put("b/a", [1])
    if let code = backend.traits.refusesKeysBelowKeys {
      let error = await #expect(throws: StoreError.self) {
        try await opened.store.put("b/a/below", [1])
      }
      #expect(error?.code == code, "\(String(describing: error))")
    } else {
      _ = try await opened.store.put("b/a/below", [2])
    }
    #expect(try await opened.store.get("b/a") == [1])
  }

  /// A twentieth of ten thousand, or all of them.
  @Test(arguments: Backend.allCases)
  func `a folder of many objects is listed completely and in order`(
    _ backend: Backend
  ) async throws {
    let opened = try backend.open(pageSize: 1000)
    defer { withExtendedLifetime(opened) {} }
    try opened.makeFolder("big")
    let names = SeededGenerator.cases(10_000).map { String(format: "big/k%05d", $0) }
    for name in names { try Data([1, 2]).write(to: opened.file(name)) }
    _ = try await opened.store.put("big/first", [])
    let listed = try await opened.store.listAll("big/").objects
    #expect(listed.map(\.key) == ["big/first"] + names)
    #expect(listed.dropFirst().allSatisfy { $0.size == 2 })
  }
}
