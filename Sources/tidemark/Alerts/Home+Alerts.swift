import SessionLog

extension Home {
  /// The file with the rules of alerts.
  var alertRulesPath: String { path + "/alerts.yaml" }
  /// The alerts' state file.
  var alertStatePath: String { operatorPath + "/alerts.json" }
  /// The folder of an operator's files, about other devices.
  var operatorPath: String { path + "/operator" }
}
