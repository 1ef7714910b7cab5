public import Foundation

/// What a store said about an upload that it accepted.
public struct PutReceipt: Sendable, Hashable {
  /// Whether the store answered with an ETag equal to the MD5 of what was sent.
  public let provesContent: Bool
  /// The server's clock when it answered.
  public let serverDate: Date?

  /// Makes a receipt.
  public init(provesContent: Bool, serverDate: Date?) {
    self.provesContent = provesContent
    self.serverDate = serverDate
  }
}
