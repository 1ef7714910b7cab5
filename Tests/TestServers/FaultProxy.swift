import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A proxy in front of a test server that damages requests as instructed.
///
/// One connection carries one request. Signatures stay valid: the request is forwarded unchanged,
/// except for a header that asks for the connection to be closed.
package final class FaultProxy: Sendable {
  /// Chooses the fault of a request, given its number from 0.
  package typealias Choice = @Sendable (_ number: Int, _ request: WireRequest) -> Fault?

  /// The URL to use instead of the server's, with the same path.
  package let url: String
  /// The listening socket, closed with this object.
  private let listener: Listener
  private let state: Box

  /// The state shared by the connections, behind a lock.
  private final class Box: @unchecked Sendable {
    // Unchecked: the variables are only accessed while `lock` is held.
    private let lock = NSCondition()
    private var connections = 0
    private var requests = 0
    private var exercised: [Fault: Int] = [:]
    private var choice: Choice?

    init(_ choice: @escaping Choice) { self.choice = choice }

    var counts: (requests: Int, exercised: [Fault: Int]) {
      lock.withLock { (requests, exercised) }
    }
    func next(_ request: WireRequest) -> (number: Int, fault: Fault?) {
      let (number, choice) = lock.withLock {
        requests += 1
        return (requests - 1, self.choice)
      }
      guard let fault = choice?(number, request), fault.concerns(request) else {
        return (number, nil)
      }
      return (number, fault)
    }
    func record(_ fault: Fault) {
      lock.withLock {
        exercised[fault, default: 0] += 1
        lock.broadcast()
      }
    }
    func countConnections(_ more: Int) {
      lock.withLock {
        connections += more
        lock.broadcast()
      }
    }
    func wait(for fault: Fault, times: Int) -> Bool {
      wait { $0.exercised[fault, default: 0] >= times }
    }
    func waitForQuiet() -> Bool { wait { $0.connections == 0 } }

    private func wait(until isSo: (Box) -> Bool) -> Bool {
      lock.withLock {
        let end = Date(timeIntervalSinceNow: Patience.seconds)
        while !isSo(self) {
          guard lock.wait(until: end) else { return false }
        }
        return true
      }
    }
    func end() { lock.withLock { choice = nil } }
  }

  /// Starts a proxy.
  ///
  /// - Parameters:
  ///   - url: The server's URL, on a port of loopback.
  ///   - choice: The fault of each request; one that cannot affect it is ignored.
  package init(to url: String, _ choice: @escaping Choice) throws {
    let listener = try Listener()
    self.listener = listener
    let parts = URLComponents(string: url)
    guard let port = parts?.port.flatMap(UInt16.init(exactly:)) else {
      throw ServerFailure(description: "\(url) has no port")
    }
    self.url = "http://127.0.0.1:\(listener.port)\(parts?.path ?? "")"
    let state = Box(choice)
    self.state = state
    Thread {
      while let connection = listener.accept() {
        state.countConnections(1)
        Thread {
          Self.serve(connection, port, state)
          state.countConnections(-1)
        }.start()
      }
    }.start()
  }

  deinit { listener.stop() }

  /// Number of requests so far.
  package var requests: Int { state.counts.requests }
  /// Number of occurrences of each fault so far.
  package var exercised: [Fault: Int] { state.counts.exercised }
  /// Forwards everything unchanged from now on.
  package func stopFaults() { state.end() }

  /// Waits until a fault has occurred this often; false if it does not.
  ///
  /// Waits on a separate thread: the request that meets the fault may need the calling one.
  package func waits(for fault: Fault, times: Int = 1) async -> Bool {
    await waits { $0.wait(for: fault, times: times) }
  }

  /// Waits until no request is in progress, so that the server has handled what was broken off;
  /// false if that does not happen.
  package func waitsForQuiet() async -> Bool { await waits { $0.waitForQuiet() } }

  private func waits(_ wait: @escaping @Sendable (Box) -> Bool) async -> Bool {
    let state = state
    return await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: wait(state)) }.start()
    }
  }

  private static func serve(_ connection: CInt, _ port: UInt16, _ state: Box) {
    guard let request = Wire.request(from: connection) else {
      close(connection)
      return
    }
    let (number, fault) = state.next(request)
    let exchange = FaultyExchange(request: request, number: number, port: port)
    guard let fault else {
      Wire.send(exchange.forward(), to: connection)
      return Wire.finish(connection)
    }
    exchange.carryOut(fault, on: connection) { state.record(fault) }
  }
}
