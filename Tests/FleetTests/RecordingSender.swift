import Fleet
import Synchronization

/// Records messages, and fails for chosen targets.
final class RecordingSender: AlertSender {
  private let state = Mutex<
    (sent: [(target: String, message: AlertNotification)], isDown: Set<String>)
  >(
    ([], []))

  func setDown(_ target: String, _ isDown: Bool) {
    state.withLock {
      if isDown { $0.isDown.insert(target) } else { $0.isDown.remove(target) }
    }
  }

  var sent: [(target: String, message: AlertNotification)] { state.withLock { $0.sent } }

  func take() -> [AlertNotification] {
    state.withLock { state in
      defer { state.sent = [] }
      return state.sent.map(\.message)
    }
  }

  func send(_ message: AlertNotification, to target: String) async -> String? {
    state.withLock { state in
      if state.isDown.contains(target) { return "\(target): answer 500" }
      state.sent.append((target, message))
      return nil
    }
  }
}
