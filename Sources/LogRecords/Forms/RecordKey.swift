/// The keys of JSON and logfmt for the fields that filters need.
enum RecordKey {
  case time, level, severity, category, message

  /// The field of a key, in any case.
  init?(_ name: UnsafeRawBufferPointer) {
    guard (1...24).contains(name.count), let key = Self.keys[Self.hash(name)],
      key.name.elementsEqual(name.lazy.map(Self.folded))
    else { return nil }
    self = key.key
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    ByteScanner.isUpper(byte) ? byte | 0x20 : byte
  }

  /// FNV-1a over the folded name.
  private static func hash(_ name: some Sequence<UInt8>) -> UInt64 {
    name.reduce(14_695_981_039_346_656_037) {
      ($0 ^ UInt64(folded($1))) &* 1_099_511_628_211
    }
  }

  private static let keys: [UInt64: (name: [UInt8], key: RecordKey)] = {
    let names: [RecordKey: [String]] = [
      .time: [
        "time", "ts", "t", "timestamp", "@timestamp", "@t", "datetime", "date", "asctime",
        "eventtime", "__realtime_timestamp",
      ],
      .level: [
        "level", "severity", "lvl", "levelname", "level_name", "loglevel", "log.level", "@l", "at",
      ],
      .severity: ["priority"],
      .category: [
        "logger", "logger_name", "loggername", "log.logger", "name", "module", "component",
        "category", "subsystem", "channel", "tag", "app", "service", "syslog_identifier",
      ],
      .message: ["message", "msg", "log", "event", "@m", "@mt", "text"],
    ]
    let all = names.flatMap { key, names in names.map { (hash($0.utf8), (Array($0.utf8), key)) } }
    return Dictionary(uniqueKeysWithValues: all)
  }()
}
