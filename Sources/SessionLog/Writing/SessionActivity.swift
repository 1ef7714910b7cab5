/// What has happened in a session since somebody last asked.
public struct SessionActivity: Sendable {
  /// It has grown.
  public var hasGrown = false
  /// A record of ERROR or above was among what came.
  public var hasError = false
  /// The program, the machine or the network is back.
  public var isBack = false

  /// Nothing has.
  public init() {}
}
