package import Testing

/// The size of a test, by what it needs.
extension Tag {
  /// Memory and a processor.
  @Tag package static var small: Self
  /// Files, processes and loopback connections.
  @Tag package static var medium: Self
  /// Real servers, or minutes.
  @Tag package static var large: Self
}
