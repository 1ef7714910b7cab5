package import HTTPTransport
package import Platform

/// Delivers messages to commands and webhooks.
package struct TargetSender: AlertSender {
  private let targets: [String: AlertTarget]
  private let transport: HTTPTransport
  private let machine: Machine
  private let environment: [String: String]
  /// Time limit of a whole request.
  private let patience: Duration
  private let print: @Sendable (AlertNotification) -> Void

  /// Makes a sender.
  ///
  /// - Parameters:
  ///   - targets: by name.
  ///   - transport: sends requests.
  ///   - machine: its clock limits the time of commands.
  ///   - environment: the environment of commands.
  ///   - patience: time limit of a whole request.
  ///   - print: called with messages without a target.
  package init(
    _ targets: [String: AlertTarget], over transport: HTTPTransport,
    on machine: Machine, environment: [String: String], patience: Duration = .seconds(30),
    print: @escaping @Sendable (AlertNotification) -> Void
  ) {
    (self.targets, self.transport, self.machine) = (targets, transport, machine)
    self.environment = environment
    (self.patience, self.print) = (patience, print)
  }

  /// See ``AlertSender``.
  package func send(_ message: AlertNotification, to target: String) async -> String? {
    guard !target.isEmpty else {
      print(message)
      return nil
    }
    do {
      switch targets[target] {
      case .command(let command): return try await run(command, message)
      case .webhook(let webhook): return try await post(message, to: webhook)
      // The target was removed from the rules: drop the message.
      case nil: return nil
      }
    } catch {
      return "\(target): \(error)"
    }
  }

  private func run(_ command: [String], _ message: AlertNotification) async throws -> String? {
    var environment = environment
    environment["TIDEMARK_ALERT"] = message.alert
    environment["TIDEMARK_ALERT_STATE"] = message.state.rawValue
    environment["TIDEMARK_ALERT_DEVICE"] = message.device.id
    environment["TIDEMARK_ALERT_SESSION"] = message.session
    let ending = await BoundedCommand(
      command, environment: environment, input: try AlertBody.json(message), limit: patience,
      on: machine
    ).run()
    return ending.failure(of: command)
  }

  private func post(_ message: AlertNotification, to webhook: Webhook) async throws -> String? {
    let (headers, body) = try AlertBody.of(message, webhook.form)
    let own = webhook.headers.map { ($0.name, $0.value) }
    let request = HTTPRequest(
      method: "POST", url: webhook.url,
      headers: headers + [("Idempotency-Key", message.id)] + own, body: body,
      maximumResponseBytes: 64 << 10)
    return await BoundedRequest(transport, patience).send(request, to: webhook)
  }
}

extension BoundedCommand.Ending {
  /// Why a command failed; nil if it succeeded.
  package func failure(of command: [String]) -> String? {
    let name = command.first ?? ""
    switch self {
    case .exited(0): return nil
    case .exited(let status): return "\(name) ended with status \(status)"
    case .timedOut: return "\(name) took too long and was killed"
    case .notStarted(let error): return "\(error)"
    }
  }
}
