import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ports of this machine's loopback interface.
enum Port {
  /// A port that nobody listens on just now.
  static func free() throws -> UInt16 {
    let (listener, port) = try listen()
    close(listener)
    return port
  }

  /// A listening socket, and its port.
  static func listen() throws -> (socket: CInt, port: UInt16) {
    let raw = makeSocket()
    var address = loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(raw, $0, length) == 0 && getsockname(raw, $0, &length) == 0
      }
    }
    guard raw >= 0, isBound, systemListen(raw) == 0 else {
      throw ServerFailure(description: "no socket on loopback: \(String(cString: strerror(errno)))")
    }
    return (raw, UInt16(bigEndian: address.sin_port))
  }

  /// Whether a connection to a port is accepted before the seconds are over.
  static func accepts(_ port: UInt16, within seconds: Double) -> Bool {
    let end = Date().addingTimeInterval(seconds)
    repeat {
      let raw = makeSocket()
      defer { close(raw) }
      var address = loopback(port)
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      if result == 0 { return true }
      poll(nil, 0, 10)
    } while Date() < end
    return false
  }

  private static func makeSocket() -> CInt {
    #if canImport(Glibc)
      socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    #else
      socket(AF_INET, SOCK_STREAM, 0)
    #endif
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}

/// The system's `listen`, under a name that the static one above does not hide.
private func systemListen(_ raw: CInt) -> CInt {
  listen(raw, 16)
}
