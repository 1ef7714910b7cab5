import Platform
import SessionLog
import Sync

extension CommandContext {
  /// Why nothing is sent from a home.
  enum NotSending: Equatable {
    /// Neither configuration nor environment names a store.
    case noStore
    /// The configuration says `store: none`.
    case storeIsNone
    /// The configuration says `consent: none`.
    case consentIsNone
    /// The configuration names a store, but does not state a consent.
    case noConsent(String)
    /// Root uploads for all users.
    case servedByRoot

    /// A stable code for programs.
    var code: String {
      switch self {
      case .noStore: "no-store"
      case .storeIsNone: "store-none"
      case .consentIsNone: "consent-none"
      case .noConsent: "consent-missing"
      case .servedByRoot: "served-by-root"
      }
    }

    /// The reason why bytes are unsent.
    var waitReason: WaitReason {
      switch self {
      case .noConsent, .consentIsNone: .consent
      default: .disabled
      }
    }

    /// The error of a command that needs the store.
    ///
    /// - Parameter offersLocal: whether the command has the option `--local`, and can do without the
    ///   store.
    func failure(in home: Home, offersLocal: Bool = false) -> Failure {
      let configuration = home.configurationPath
      let choice = "set 'consent: logs' to send logs, or 'consent: metadata' for all but these"
      return switch self {
      case .noStore:
        Failure(
          .configuration,
          "no store is configured; run 'tidemark init s3://bucket/logs' (or https://…, file:///…)")
      case .storeIsNone:
        Failure(
          .configuration,
          "'store: none' in \(configuration): sessions stay on this machine; 'tidemark init URL' "
            + "configures a store")
      case .consentIsNone:
        Failure(
          .authentication,
          "consent is 'none' in \(configuration): nothing leaves this machine; \(choice)")
      case .noConsent:
        Failure(
          .authentication,
          "there is no 'consent:' in \(configuration): nothing leaves this machine; \(choice)")
      case .servedByRoot:
        Failure(
          .authentication,
          "root sends this machine's sessions, and the store is root's: ask for "
            + "'tidemark … --user \(Account.current.name)' as root"
            + (offersLocal ? ", or use --local" : ""))
      }
    }

    /// Whether a person has to act; the other reasons are intended.
    var isProblem: Bool { if case .noConsent = self { true } else { false } }
  }
}
