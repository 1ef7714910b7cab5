import Foundation
package import Platform

extension LivedTime {
  /// Reads a home's lived time; nil if there is none, or none that is plausible.
  ///
  /// - Throws: ``Platform/SystemError``.
  package static func load(_ home: Home) throws -> LivedTime? {
    do {
      let json = Data(try AtomicFile.read(home.livedPath))
      return try JSONDecoder().decode(LivedTime.self, from: json).checked
    } catch let error as SystemError where error.isNotFound {
      return nil
    } catch is DecodingError {
      return nil
    }
  }

  /// Saves it durably.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func save(_ home: Home) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try AtomicFile.write(Array(try encoder.encode(self)) + [0x0a], to: home.livedPath)
  }
}

extension LivedTime.Reading {
  /// A machine's clocks now.
  package init(_ machine: Machine) {
    self.init(boot: machine.bootId, uptime: machine.uptime().milliseconds, wall: machine.now())
  }
}
