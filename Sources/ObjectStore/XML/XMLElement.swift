/// An element of a small XML document, with its namespace resolved.
struct XMLElement: Equatable {
  /// The namespace, such as `DAV:`; empty for none.
  var namespace: String
  /// The name without its prefix.
  var name: String
  /// The text directly inside, without surrounding white space.
  var text = ""
  var children: [XMLElement] = []
  /// Its position in the document, including its tags.
  var range = 0..<0

  /// Whether both have the same content; positions are ignored.
  static func == (left: XMLElement, right: XMLElement) -> Bool {
    left.namespace == right.namespace && left.name == right.name && left.text == right.text
      && left.children == right.children
  }

  /// The first child of a name, in any namespace unless one is given.
  func child(_ name: String, in namespace: String? = nil) -> XMLElement? {
    children.first { $0.name == name && (namespace == nil || $0.namespace == namespace) }
  }

  /// All children of a name, in any namespace unless one is given.
  func all(_ name: String, in namespace: String? = nil) -> [XMLElement] {
    children.filter { $0.name == name && (namespace == nil || $0.namespace == namespace) }
  }
}

/// Why a document was rejected.
struct XMLError: Error, Equatable {
  let reason: String
  let offset: Int
  /// Whether the document ends where more has to follow, as if it had been cut in transit.
  var isCut = false
  /// The name of the root element, if the document was cut within it.
  var root: String?
}
