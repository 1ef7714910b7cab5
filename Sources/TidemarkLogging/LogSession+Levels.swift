import LogRecords

/// Writes records of each level.
extension LogSession {
  /// Writes a record of level TRACE; see ``log(_:_:category:scenario:)``.
  public func trace(
    _ message: @autoclosure () -> String, category: String? = nil, scenario: Scenario? = nil
  ) { log(.trace, message(), category: category, scenario: scenario) }

  /// Writes a record of level DEBUG; see ``log(_:_:category:scenario:)``.
  public func debug(
    _ message: @autoclosure () -> String, category: String? = nil, scenario: Scenario? = nil
  ) { log(.debug, message(), category: category, scenario: scenario) }

  /// Writes a record of level INFO; see ``log(_:_:category:scenario:)``.
  public func info(
    _ message: @autoclosure () -> String, category: String? = nil, scenario: Scenario? = nil
  ) { log(.info, message(), category: category, scenario: scenario) }

  /// Writes a record of level SUCCESS, which swift-log does not have.
  public func success(
    _ message: @autoclosure () -> String, category: String? = nil, scenario: Scenario? = nil
  ) { log(.success, message(), category: category, scenario: scenario) }

  /// Writes a record of level WARNING; see ``log(_:_:category:scenario:)``.
  public func warning(
    _ message: @autoclosure () -> String, category: String? = nil, scenario: Scenario? = nil
  ) { log(.warning, message(), category: category, scenario: scenario) }

  /// Writes a record of level ERROR; see ``log(_:_:category:scenario:)``.
  public func error(
    _ message: @autoclosure () -> String, category: String? = nil, scenario: Scenario? = nil
  ) { log(.error, message(), category: category, scenario: scenario) }

  /// Writes a record of level FAULT: a defect of the program itself.
  public func fault(
    _ message: @autoclosure () -> String, category: String? = nil, scenario: Scenario? = nil
  ) { log(.fault, message(), category: category, scenario: scenario) }
}
