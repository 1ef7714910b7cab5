/// Activity in a session since the last call.
public struct SessionActivity: Sendable {
  /// It has grown.
  public var hasGrown = false
  /// New records include one of ERROR or above.
  public var hasError = false
  /// The program, the machine or the network is back.
  public var isBack = false

  /// No activity.
  public init() {}
}
