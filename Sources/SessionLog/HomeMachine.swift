import Platform

/// One use of a home by a machine that has an id.
struct HomeVisit: Sendable, Equatable, Codable {
  let machineId: String
  let bootId: String
  /// The inode number of the home's folder: a copy has another one.
  ///
  /// Text of one length, so that records differ in nothing else from run to run.
  let folder: String

  /// The use of a home by this process; nil if the machine has no id, or the folder is not there.
  init?(_ home: Home, by machine: Machine) {
    guard let id = machine.machineId,
      let status = try? FileStatus(AtomicFile.directory(of: home.devicePath))
    else { return nil }
    (machineId, bootId) = (id, machine.bootId)
    let digits = String(status.inode, radix: 16)
    folder = String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension HomeVisit {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldKey.self)
    machineId = try fields.decode(String.self, forKey: "machineId")
    bootId = try fields.decode(String.self, forKey: "bootId")
    folder = try fields.decode(String.self, forKey: "folder")
  }
}

/// A machine that uses a home, and which device it is there.
struct HomeMachine: Sendable, Equatable, Codable {
  let deviceId: String
  let created: Timestamp
  /// Its last use; of one boot only the first.
  var last: HomeVisit
  /// Whether it has come back in the same boot since another machine was new to the home.
  ///
  /// Then both use one home. A clone of the machine cannot do that: it begins with a boot of its
  /// own, and gets its original's id back in that one or a later one.
  var hasReturned = false

  /// Whether a visitor is this machine, rather than a copy of it that has got its id.
  func isSurely(_ visit: HomeVisit) -> Bool {
    visit.machineId == last.machineId && visit.folder == last.folder
      && (hasReturned || visit.bootId == last.bootId)
  }
}

extension HomeMachine {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldKey.self)
    deviceId = try fields.decode(String.self, forKey: "deviceId")
    created = try fields.decode(Timestamp.self, forKey: "created")
    last = try fields.decode(HomeVisit.self, forKey: "last")
    hasReturned = try fields.decode(Bool.self, forKey: "hasReturned")
  }
}
