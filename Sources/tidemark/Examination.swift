import Foundation
import Platform
import SessionLog

/// What root's commands find out about other users' homes, from a process for each: two at a time;
/// see ``HomeProcess``.
///
/// A user may decide what the process of their home reports, and no more than that.
struct Examination {
  /// What a process reports.
  struct Answer<Value: Codable>: Codable {
    /// What it has found out; nil if it could not.
    var value: Value?
    /// Why it could not.
    var error: String?
  }

  /// Starts another process than an examination; for tests.
  var replacement: ((Home) throws -> SupervisedProcess)?
  private let arguments: [String]

  /// - Parameters:
  ///   - subject: what to find out.
  ///   - options: options of ``Examine``.
  init(_ subject: Examine.Subject, options: [String] = []) {
    arguments = ["examine", subject.rawValue] + options
  }

  /// Examines homes.
  ///
  /// - Parameters:
  ///   - homes: other users' homes.
  ///   - type: the type of the findings.
  /// - Returns: the homes in the same order, each with the finding, or why there is none and what
  ///   to do about it.
  /// - Throws: ``Platform/SystemError`` if no process can be started.
  func findings<Value: Codable>(
    in homes: [Home], as type: Value.Type
  ) throws -> [(home: Home, finding: Swift.Result<Value, Failure>)] {
    var waiting = homes[...]
    var findings: [String: Swift.Result<Value, Failure>] = [:]
    try SupervisedProcess.run(atOnce: 2) {
      while let home = waiting.popFirst() {
        if let process = try start(home) { return (home, process) }
      }
      return nil
    } ended: { home, process in
      findings[home.path] = Self.finding(of: process, in: home)
    }
    return homes.compactMap { home in findings[home.path].map { (home: home, finding: $0) } }
  }

  private func start(_ home: Home) throws -> SupervisedProcess? {
    if let replacement { return try replacement(home) }
    return try HomeProcess.start(arguments, for: home, within: Examine.budget.time)
  }

  /// Maximum length of an error that is shown.
  private static let longestError = 1000

  private static func finding<Value: Codable>(
    of process: SupervisedProcess, in home: Home
  ) -> Swift.Result<Value, Failure> {
    let (result, errors) = (process.outputs[0], process.outputs[2])
    if !errors.bytes.isEmpty { Console.writeError(String(decoding: errors.bytes, as: UTF8.self)) }
    let reason: String
    if let problem = HomeProcess.problem(of: process, within: Examine.budget.time) {
      reason = problem
    } else {
      let answer = try? JSONDecoder().decode(Answer<Value>.self, from: Data(result.bytes))
      if let value = answer?.value { return .success(value) }
      if let error = answer?.error {
        return .failure(Failure(.partial, String(oneLine: error, limit: longestError)))
      }
      reason = result.isCut ? "there is too much to report" : "its process reported nothing"
    }
    let whose = home.owner.map { " as \($0.name)" } ?? ""
    return .failure(
      Failure(
        .partial,
        "not examined: \(reason); 'tidemark status'\(whose) examines it without a limit, and other "
          + "homes are unaffected"))
  }
}
