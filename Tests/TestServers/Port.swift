import Foundation
import Platform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ports of this machine's loopback interface.
enum Port {
  /// Below the ports that the system assigns to other sockets, which could otherwise take one from
  /// a server about to start.
  private static let fixed: Range<UInt16> = 10_000..<30_000
  private static let next = Guarded(UInt16.random(in: fixed))

  /// A port for a server about to start; no other server of this process gets it.
  static func free() throws -> UInt16 {
    for _ in fixed {
      let port = next.withLock { next in
        defer { next = next + 1 < fixed.upperBound ? next + 1 : fixed.lowerBound }
        return next
      }
      guard let bound = bind(port) else { continue }
      close(bound.socket)
      return port
    }
    throw ServerFailure(description: "no port from \(fixed) is free")
  }

  /// A listening socket, and its port.
  fileprivate static func listen() throws -> (socket: CInt, port: UInt16) {
    guard let bound = bind(0), systemListen(bound.socket) == 0 else {
      throw ServerFailure(description: "no socket on loopback: \(String(cString: strerror(errno)))")
    }
    return bound
  }

  /// A socket bound to a port, any if 0 is given; nil if the port is taken.
  private static func bind(_ port: UInt16) -> (socket: CInt, port: UInt16)? {
    let raw = makeSocket()
    var address = loopback(port)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        systemBind(raw, $0, length) == 0 && getsockname(raw, $0, &length) == 0
      }
    }
    guard raw >= 0, isBound else {
      close(raw)
      return nil
    }
    return (raw, UInt16(bigEndian: address.sin_port))
  }

  /// Whether a connection to a port is accepted.
  static func accepts(_ port: UInt16) -> Bool {
    guard let raw = connect(port) else { return false }
    close(raw)
    return true
  }

  /// A connection to a port; nil if nothing listens there.
  static func connect(_ port: UInt16) -> CInt? {
    let raw = makeSocket()
    var address = loopback(port)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        systemConnect(raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result == 0 { return raw }
    close(raw)
    return nil
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

/// A port on which this process listens.
///
/// Closed with its last user, including a thread that accepts: until then no other socket gets its
/// number, and nothing answers in another server's place.
final class Listener: Sendable {
  let port: UInt16
  private let socket: CInt

  init() throws { (socket, port) = try Port.listen() }

  deinit { close(socket) }

  /// The next connection, not inherited by children of this process; nil once the listener has
  /// stopped.
  func accept() -> CInt? {
    var connection = systemAccept(socket)
    // Neither a signal nor a client that is gone already ends a server.
    while connection < 0, [EINTR, ECONNABORTED].contains(errno) {
      connection = systemAccept(socket)
    }
    guard connection >= 0 else { return nil }
    _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
    return connection
  }

  /// Whether a connection arrives within this number of milliseconds.
  func waits(milliseconds: CInt) -> Bool {
    var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, milliseconds) == 1
  }

  /// Stops accepting.
  func stop() { shutdown(socket, CInt(SHUT_RDWR)) }
}

/// The system's `accept`, under a name that the method above does not hide.
private func systemAccept(_ raw: CInt) -> CInt { accept(raw, nil, nil) }

/// The system's `listen`, under a name that the static one above does not hide.
private func systemListen(_ raw: CInt) -> CInt {
  listen(raw, 128)
}

/// The system's `bind`, under a name that the static one above does not hide.
private func systemBind(
  _ raw: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
) -> CInt {
  bind(raw, address, length)
}

/// The system's `connect`, under a name that the static one above does not hide.
private func systemConnect(
  _ raw: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
) -> CInt {
  connect(raw, address, length)
}
