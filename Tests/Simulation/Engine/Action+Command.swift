extension Action {
  /// The home that it concerns; nil for none.
  var home: Int? {
    switch self {
    case .start(let home), .write(let home, _, _), .end(let home, _), .kill(let home, _),
      .append(let home, _, _), .appendLate(let home, _, _), .rotate(let home, _, _),
      .nights(let home, _, _, _), .rewrite(let home, _),
      .unlink(let home, _), .upload(let home), .round(let home), .obstruct(let home, _),
      .reap(let home, _, _), .reapWithoutStore(let home),
      .pull(let home), .repair(let home), .redact(let home), .delete(let home, _, _, _),
      .read(let home, _), .keep(let home, _), .restore(let home, _), .retry(let home, _),
      .putBack(let home), .edit(let home, _, _), .step(let home, _),
      .setRight(let home), .reboot(let home, _),
      .cutPower(let home), .snapshot(let home), .rollBack(let home, _), .clone(let home, _),
      .lose(let home, _), .identify(let home, _), .consent(let home, _), .rules(let home, _),
      .retain(let home, _), .refuse(let home, _, _), .fill(let home, _), .fail(let home, _),
      .recover(let home):
      home
    case .pass, .stepServer, .unmount, .mount, .empty, .remove, .forge: nil
    }
  }

  /// Whether it is a command of the product, which the oracle judges.
  var isCommand: Bool {
    switch self {
    case .upload, .round, .reap, .reapWithoutStore, .pull, .repair, .redact, .delete, .read, .keep,
      .restore, .retry:
      true
    default: false
    }
  }

  /// Whether it is a command that changes neither homes nor the store.
  var isReading: Bool {
    switch self {
    case .pull, .read: true
    default: false
    }
  }

  /// Whether it changes objects or homes behind the product's back.
  var isTampering: Bool {
    switch self {
    case .remove, .empty, .rollBack, .clone, .identify, .lose(_, .device), .lose(_, .sidecar): true
    case .forge(_, let forgery): forgery != .foreign
    default: false
    }
  }

  /// Whether it deletes by an age that a person named.
  var namesAge: Bool {
    if case .reap(_, let age, _) = self { return age != nil }
    return false
  }
}
