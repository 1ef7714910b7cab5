import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.small)) struct XMLScannerTests {
  @Test func `XML namespaces, text and references are read`() throws {
    let root = try XMLScanner.parse(
      Array(
        """
        <?xml version="1.0"?><!-- c --><a:x xmlns:a="DAV:" xmlns='urn:y' k="a&gt;b">
        <y> one &amp; <![CDATA[<two>]]> &#65;&#x42; </y><a:z/></a:x>
        """.utf8))
    #expect(root.namespace == "DAV:")
    #expect(root.child("y", in: "urn:y")?.text == "one & <two> AB")
    #expect(root.child("z", in: "DAV:")?.children.isEmpty == true)
  }

  @Test(arguments: [
    "", "text", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a/>text", "<a b=c/>", "<a b='1' b='2'/>",
    "<a b='1'c='2'/>", "<a>&nbsp;</a>", "<a>&#0;</a>", "<a>&amp</a>", "<p:a/>", "<a p:b='1'/>",
    "<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "<a><![CDATA[x</a>", "<a",
    "<1/>",
    "<a b='<'/>", "<!-- <a/>",
  ])
  func `XML that is malformed or has a DTD is refused`(_ text: String) {
    #expect(throws: XMLError.self) { try XMLScanner.parse(Array(text.utf8)) }
  }

  @Test func `XML that was cut anywhere is known from XML that is malformed`() throws {
    let whole = Array(
      """
      <?xml version="1.0"?><!-- <c> --><a:x xmlns:a="DAV:" k='a&gt;b'>
      <y>ä &amp; <![CDATA[<two>]]> &#65;</y><a:z /></a:x>
      """.utf8)
    _ = try XMLScanner.parse(whole)
    for length in 1..<whole.count {
      let error = #expect(throws: XMLError.self) { try XMLScanner.parse(Array(whole[..<length])) }
      #expect(error?.isCut == true, "\(length): \(error?.reason ?? "")")
    }
    for text in ["", " ", "text", "<a></b>", "<a/><b/>", "<a><br></a>", "<a b=c/><d>", "<a>&x;<b>"]
    {
      let error = #expect(throws: XMLError.self) { try XMLScanner.parse(Array(text.utf8)) }
      #expect(error?.isCut == false, "\(text): \(error?.reason ?? "")")
    }
  }

  @Test func `XML that is nested too deeply is refused`() {
    let deep = String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100)
    #expect(throws: XMLError.self) { try XMLScanner.parse(Array(deep.utf8)) }
  }

  /// Each element that declares one used to copy all prefixes in scope: rejecting a server's
  /// document with two million of them took a quarter of a minute.
  @Test func `XML with too many prefixes in scope is refused`() throws {
    func document(_ count: Int) -> [UInt8] {
      let names = (0..<count).map { "xmlns:p\($0)='u\($0)'" }.joined(separator: " ")
      return Array("<a \(names)><b xmlns='v'><p0:c/></b></a>".utf8)
    }
    let root = try XMLScanner.parse(document(XMLScanner.maximumPrefixes - 2))
    #expect(root.children.first?.children.first?.namespace == "u0")
    #expect(throws: XMLError.self) {
      try XMLScanner.parse(document(XMLScanner.maximumPrefixes - 1))
    }
    #expect(XMLScanner.maximumPrefixes <= 64)
  }

  @Test func `an XML prefix has the innermost declaration's meaning`() throws {
    let root = try XMLScanner.parse(
      Array("<p:a xmlns:p='1'><p:b xmlns:p='2'><p:c/></p:b><p:d/></p:a>".utf8))
    #expect(root.namespace == "1")
    #expect(root.children.map(\.namespace) == ["2", "1"])
    #expect(root.children.first?.children.first?.namespace == "2")
    #expect(throws: XMLError.self) {
      try XMLScanner.parse(Array("<a><b xmlns:p='2'/><p:c/></a>".utf8))
    }
  }

  @Test func `XML that is not UTF-8 is refused`() {
    #expect(throws: XMLError.self) {
      try XMLScanner.parse(Array("<a>".utf8) + [0xFF] + Array("</a>".utf8))
    }
  }
}
