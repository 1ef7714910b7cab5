import SessionLog

extension Home {
  /// The rules of alerts.
  var alertRulesPath: String { path + "/alerts.yaml" }
  /// What alerts remember.
  var alertStatePath: String { operatorPath + "/alerts.json" }
  /// What is kept by somebody who looks after other devices.
  var operatorPath: String { path + "/operator" }
}
