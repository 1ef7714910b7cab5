import ObjectStore

/// A fault in a call to the store.
package enum Fault: Hashable, Sendable {
  /// An error; nothing is done.
  case refuse(Refusal)
  /// The call is carried out, but its answer is lost.
  case loseAnswer
  /// An error; the change takes effect after this number of further calls.
  case late(Int)
  /// The change takes effect, and again after this number of further calls.
  case double(Int)
  /// Half of the body is stored, with an error as the answer.
  case half
  /// Half of the body is stored, with success as the answer.
  case halfAccepted
  /// One bit of the stored body is flipped, with success as the answer.
  case damage
  /// A caching server shows the object for this number of minutes, and never stores it.
  case swallow(Int)
  /// A listing shows the store as it was this number of changes ago.
  case stale(Int)
  /// A listing lacks some of its entries.
  case partial
  /// A listing shows objects that have been deleted.
  case ghosts

  /// Whether it may damage objects stored before.
  var isTampering: Bool {
    switch self {
    case .half, .halfAccepted, .damage, .swallow: true
    default: false
    }
  }

  /// A server's error answers.
  package enum Refusal: String, Sendable, CaseIterable {
    case unauthorized, forbidden, tooLarge, tooMany, unavailable, insufficientStorage, unreachable

    var code: StoreError.Code {
      switch self {
      case .unauthorized: .authentication
      case .forbidden: .authentication
      case .tooLarge: .tooLarge
      case .tooMany: .overloaded
      case .unavailable: .transient
      case .insufficientStorage: .full
      case .unreachable: .unreachable
      }
    }
  }
}

/// A fault of one call within a step.
package struct PlannedFault: Hashable, Sendable {
  /// Index of the call within the step.
  package var call: Int
  /// The fault.
  package var fault: Fault

  /// Plans a fault.
  package init(_ call: Int, _ fault: Fault) { (self.call, self.fault) = (call, fault) }
}
