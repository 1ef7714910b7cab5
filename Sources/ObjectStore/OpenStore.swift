/// Opens the store at a URL, with retries of what is transient.
///
/// Nothing is contacted yet. Throws `StoreError` with `configuration` when the settings or the
/// environment contradict themselves.
///
/// - Parameters:
///   - url: Where the store is.
///   - settings: What the configuration file says.
///   - environment: The process's environment; overrides the settings.
public func openStore(
  _ url: StoreURL, settings: StoreSettings, environment: [String: String]
) throws -> any ObjectStore {
  throw StoreError(.unsupported, operation: "open", target: url.description, response: "")
}
