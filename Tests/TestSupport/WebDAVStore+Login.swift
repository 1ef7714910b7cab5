package import HTTPTransport
package import ObjectStore
import Platform

extension WebDAVStore {
  /// Makes a store with a fixed login.
  ///
  /// - Parameters:
  ///   - url: the folder, percent-encoded, without a slash at the end.
  ///   - login: user and password; nil for none.
  ///   - transport: carries the requests.
  package convenience init(
    url: String, login: (user: String, password: String)?, transport: HTTPTransport
  ) {
    let credentials = login.map { WebDAVCredentials.password(user: $0.user, password: $0.password) }
    self.init(
      url: url, credentials: credentials, transport: transport, random: Machine.current.random
    ) { credentials }
  }
}
