import HTTPTransport

/// Adds our lifecycle rule to a bucket's configuration, and keeps the rules of others.
package struct BucketLifecycle: Sendable {
  /// The planned change; a value that can be shown first.
  package struct Plan: Sendable {
    /// The rule to install.
    package let rule: LifecycleRule
    /// Whether it is installed already.
    package let isInstalled: Bool
    /// The former version of the rule, verbatim; nil if there is none.
    package let former: String?
    /// The ids of rules that stay as they are; empty for a rule without one.
    package let kept: [String]
    let present: LifecycleDocument?
    let wanted: LifecycleDocument
    let transition: String?
  }

  private let store: S3Store

  /// Opens the bucket of a store's URL; sends no request yet.
  ///
  /// Throws `StoreError`: `unsupported` unless it is a bucket, `configuration` as for opening.
  package init(_ url: StoreURL, settings: StoreSettings, environment: [String: String]) throws {
    guard case .s3(let bucket, let prefix) = url.kind else {
      // Throws the same error.
      _ = try LifecycleRule(url, below: "", days: 1)
      throw StoreURL.refused(url.description, "not a bucket")
    }
    self.init(
      try openS3(
        bucket, prefix, settings, environment: environment, transport: settings.transport()))
  }

  init(_ store: S3Store) {
    self.store = store
  }

  /// Reads the present configuration and plans.
  ///
  /// Throws `StoreError`: `unsupported` if the service has no lifecycle rules, or they cannot be
  /// extended safely.
  package func plan(_ rule: LifecycleRule) async throws -> Plan {
    guard let (present, transition) = try await store.lifecycle() else {
      guard let wanted = LifecycleDocument(Array(rule.document.utf8)) else {
        throw failed(.other, "the rule cannot be written", "")
      }
      return Plan(
        rule: rule, isInstalled: false, former: nil, kept: [], present: nil, wanted: wanted,
        transition: nil)
    }
    guard let wanted = present.merging(rule) else {
      throw failed(
        .unsupported, "the present configuration cannot be added to",
        "Add the rule of --print-lifecycle to it by hand; nothing was changed.")
    }
    let former = present.rules.first { $0.child("ID")?.text == rule.id }
    return Plan(
      rule: rule, isInstalled: present.holds(rule),
      former: former.map { String(decoding: present.bytes[$0.range], as: UTF8.self) },
      kept: present.others(than: rule).map { $0.child("ID")?.text ?? "" }, present: present,
      wanted: wanted, transition: transition)
  }

  /// Carries out a plan, reads the configuration back and compares.
  ///
  /// Throws `StoreError`: `conflict` if the configuration changed since the plan, `integrity` if it
  /// reads back differently.
  package func install(_ plan: Plan) async throws {
    guard !plan.isInstalled else { return }
    guard try await store.lifecycle()?.document == plan.present else {
      throw failed(
        .conflict, "somebody has changed it in the meantime", "Try again; nothing was changed.")
    }
    try await store.setLifecycle(plan.wanted, transition: plan.transition)
    guard let now = try await store.lifecycle()?.document, now.holds(plan.rule),
      now.keeps(plan.wanted, besides: plan.rule)
    else {
      throw failed(
        .integrity, "what is read back is not what was sent",
        "Look at the bucket's lifecycle rules; another client may have written them, or the "
          + "server shows them later.")
    }
  }

  private func failed(_ code: StoreError.Code, _ what: String, _ advice: String) -> StoreError {
    StoreError(
      code, operation: "lifecycle", target: "s3://\(store.bucket)", response: what, advice: advice)
  }
}
