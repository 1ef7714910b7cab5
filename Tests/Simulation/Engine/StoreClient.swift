import ObjectStore
import Platform
import Replica
import Synchronization
import TestSupport

/// A store as one process sees it: over a network that loses, duplicates and reorders requests, on
/// a server that fails.
struct StoreClient: ObjectStore {
  let store: ModelStore
  let process: SimulatedProcess?
  let actor: Int
  let scheduler: Scheduler?
  let time: SimulatedTime?
  let trace: Trace?
  let oracle: Oracle?
  var faults: [Int: Fault] = [:]
  /// Decides what is left open: which entries a listing lacks, whether the call in which a process
  /// dies reaches the server.
  let random: Guarded<SeededGenerator>
  /// Maximum number of entries of a page.
  var pageSize = Int.max

  /// A store without faults.
  init(_ store: ModelStore, pageSize: Int = .max) {
    self.store = store
    (process, actor, scheduler, time, trace, oracle) = (nil, 0, nil, nil, nil, nil)
    random = Guarded(SeededGenerator(case: 3))
    self.pageSize = pageSize
  }

  init(
    _ store: ModelStore, _ process: SimulatedProcess, actor: Int, _ scheduler: Scheduler,
    _ time: SimulatedTime, _ trace: Trace, _ oracle: Oracle, faults: [PlannedFault], seed: UInt64
  ) {
    (self.store, self.process, self.actor) = (store, process, actor)
    (self.scheduler, self.time, self.trace, self.oracle) = (scheduler, time, trace, oracle)
    self.faults = Dictionary(faults.map { ($0.call, $0.fault) }) { first, _ in first }
    random = Guarded(SeededGenerator(case: 3, seed: seed))
  }

  var location: String { store.location }

  /// Makes a call at this actor's turn, with its planned fault.
  ///
  /// - Parameter change: the change made by the call; nil if it only reads.
  private func call<Result>(
    _ operation: String, _ key: String, _ changes: [ModelStore.Change] = [],
    _ answer: (inout ModelStore.State, Fault?) throws -> Result
  ) async throws -> Result {
    await scheduler?.turn(of: actor)
    guard !Task.isCancelled else {
      throw StoreError(
        .cancelled, operation: operation, target: key, response: "the request was cancelled")
    }
    var number = 0
    if let process {
      switch process.beginCall() {
      case .lives(let call): number = call
      case .dies:
        // The request was in transit, and may or may not arrive.
        if random.withLock({ Bool.random(using: &$0) }) { apply(changes) }
        trace?.record("\(process.name) dies in \(operation) \(key)")
        throw CancellationError()
      case .isDead: throw CancellationError()
      }
    }
    time?.advance(20)
    store.beginCall()
    let fault = faults[number]
    let result = Swift.Result<Result, any Error> {
      try carryOut(fault, operation, key, changes, answer)
    }
    if let trace {
      let end =
        switch result {
        case .success: "ok"
        case .failure(let error): (error as? StoreError)?.code.rawValue ?? "error"
        }
      trace.record(
        "\(process?.name ?? "") \(operation) \(key) \(end)\(fault.map { " \($0)" } ?? "")")
    }
    return try result.get()
  }

  private func carryOut<Result>(
    _ fault: Fault?, _ operation: String, _ key: String, _ changes: [ModelStore.Change],
    _ answer: (inout ModelStore.State, Fault?) throws -> Result
  ) throws -> Result {
    func failure(_ code: StoreError.Code) -> StoreError {
      StoreError(code, operation: operation, target: key, response: "simulated fault")
    }
    if changes.contains(where: store.refuses) { throw failure(.transient) }
    if !changes.isEmpty, fault?.isTampering == true { oracle?.recordTampering() }
    switch fault {
    case .refuse(let refusal): throw failure(refusal.code)
    case .loseAnswer:
      apply(changes)
      throw failure(.transient)
    case .late(let calls) where !changes.isEmpty:
      store.delay(changes, by: calls)
      throw failure(.transient)
    case .half where !changes.isEmpty:
      apply(changes.map(\.halved))
      throw failure(.transient)
    case .halfAccepted: apply(changes.map(\.halved))
    case .damage: apply(changes.map(\.damaged))
    case .swallow(let minutes):
      let end = (time?.milliseconds ?? 0) + Int64(minutes) * 60_000
      store.withState { state in
        for change in changes {
          store.apply(change, at: serverDate, forgottenAt: end, to: &state)
        }
      }
    case .double(let calls):
      apply(changes)
      store.delay(changes, by: calls)
    default: apply(changes)
    }
    return try store.withState { try answer(&$0, fault) }
  }

  private func apply(_ changes: [ModelStore.Change]) {
    store.withState { state in
      for change in changes { store.apply(change, at: serverDate, to: &state) }
    }
  }

  // MARK: ObjectStore

  func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    if RevisionName(key.lastPart) != nil { oracle?.recordSidecar(body, at: key) }
    return try await call("PUT", key, [.put(key, body)]) { state, _ in
      PutReceipt(
        provesContent: store.kind == .bucket && state.objects[key]?.bytes == body,
        serverDate: serverDate)
    }
  }

  func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try await call("GET", key) { state, _ in
      guard let object = state.objects[key] else { throw StoreError.missing("GET", key) }
      return try object.read(range, key)
    }
  }

  func head(_ key: String) async throws -> ObjectEntry {
    try await call("HEAD", key) { state, _ in
      guard let object = state.objects[key] else { throw StoreError.missing("HEAD", key) }
      return object.entry(key)
    }
  }

  func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try await call("LIST", prefix) { state, fault in
      var objects = state.objects
      switch fault {
      case .stale(let changes): objects = store.objects(before: changes, state)
      case .ghosts:
        for (key, before) in state.history where objects[key] == nil { objects[key] = before }
      case .partial:
        random.withLock { random in
          for key in objects.keys.sorted() where Int.random(in: 0..<3, using: &random) == 0 {
            objects[key] = nil
          }
        }
      default: break
      }
      return page(ListPage(of: objects, prefix, serverDate: serverDate), after: token)
    }
  }

  private func page(_ all: ListPage, after token: String?) -> ListPage {
    guard pageSize < .max else { return all }
    let names = (all.objects.map(\.key) + all.directories).sorted().filter { $0 > token ?? "" }
    let wanted = Set(names.prefix(pageSize))
    return ListPage(
      objects: all.objects.filter { wanted.contains($0.key) },
      directories: all.directories.filter(wanted.contains),
      next: names.count > pageSize ? names[pageSize - 1] : nil, serverDate: all.serverDate)
  }

  func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    guard !keys.isEmpty else { return [] }
    return try await call("DELETE", keys.joined(separator: " "), keys.map { .delete($0) }) { _, _ in
      keys.map { DeleteOutcome(key: $0, error: nil) }
    }
  }

  /// The server's clock; for a folder, that of the machine that writes to it.
  private var serverDate: ServerTime? {
    guard store.kind == .folder, let process else { return store.date }
    return process.machine.now().assumingSynchronizedClocks
  }
}
