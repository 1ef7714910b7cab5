package import Platform

/// The store's answer to an accepted upload.
package struct PutReceipt: Sendable, Hashable {
  /// Whether the store answered with an ETag equal to the MD5 of the body.
  package let provesContent: Bool
  /// The server's clock when it answered.
  package let serverDate: ServerTime?

  /// Makes a receipt.
  package init(provesContent: Bool, serverDate: ServerTime?) {
    self.provesContent = provesContent
    self.serverDate = serverDate
  }
}
