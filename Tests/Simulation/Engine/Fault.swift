import ObjectStore

/// What goes wrong with a call to the store.
package enum Fault: Hashable, Sendable {
  /// An error, and nothing is done.
  case refuse(Refusal)
  /// The call is carried out, its answer is lost.
  case loseAnswer
  /// An error; the change takes effect after so many more calls.
  case late(Int)
  /// The change takes effect, and once more after so many more calls.
  case double(Int)
  /// Half of the body is stored, and an error comes back.
  case half
  /// Half of the body is stored, and success comes back.
  case halfAccepted
  /// One bit of the stored body is wrong, and success comes back.
  case damage
  /// A caching server shows the object for so many minutes, and never stores it.
  case swallow(Int)
  /// A listing shows the store as it was so many changes ago.
  case stale(Int)
  /// A listing lacks some of its entries.
  case partial
  /// A listing shows objects that have been deleted.
  case ghosts

  /// Whether what was stored before may be worse after it.
  var isTampering: Bool {
    switch self {
    case .half, .halfAccepted, .damage, .swallow: true
    default: false
    }
  }

  /// The errors that a server answers with.
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
  /// Which call of the step, from 0.
  package var call: Int
  /// What goes wrong with it.
  package var fault: Fault

  /// Plans a fault.
  package init(_ call: Int, _ fault: Fault) { (self.call, self.fault) = (call, fault) }
}
