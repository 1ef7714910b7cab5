package import Platform

/// What a store said about an upload that it accepted.
package struct PutReceipt: Sendable, Hashable {
  /// Whether the store answered with an ETag equal to the MD5 of what was sent.
  package let provesContent: Bool
  /// The server's clock when it answered.
  package let serverDate: ServerTime?

  /// Makes a receipt.
  package init(provesContent: Bool, serverDate: ServerTime?) {
    self.provesContent = provesContent
    self.serverDate = serverDate
  }
}
