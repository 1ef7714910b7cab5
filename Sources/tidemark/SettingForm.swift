import Platform
import SessionLog

/// How one kind of value is read and written.
struct SettingForm<Value: Sendable>: Sendable {
  /// The valid forms, for an error; empty if the keys differ in them.
  let hint: String
  /// The value of a text; nil if it is invalid.
  let read: @Sendable (String) -> Value?
  /// The text of a value.
  let text: @Sendable (Value) -> String

  /// Describes a kind of value.
  init(
    _ hint: String, _ read: @escaping @Sendable (String) -> Value?,
    text: @escaping @Sendable (Value) -> String
  ) {
    (self.hint, self.read, self.text) = (hint, read, text)
  }
}

extension SettingForm<String> {
  static var text: SettingForm { .init("", { $0 }, text: { $0 }) }
}

extension SettingForm<Bool> {
  static var flag: SettingForm { .init("; use true or false", Settings.flag, text: { "\($0)" }) }
}

extension SettingForm<ByteCount> {
  static var size: SettingForm {
    .init("; use a size such as \(ByteCount.sizeForms)", Settings.bytes, text: { "\($0.bytes)" })
  }
}

extension SettingForm<Duration> {
  private static var forms: String { "; use a time such as \(Age.forms)" }

  /// A duration of at least a second.
  static var time: SettingForm {
    .init(forms, { Age.parse($0).flatMap { $0 > .zero ? $0 : nil } }, text: brief)
  }

  static var timeOrZero: SettingForm { .init(forms, Age.parse, text: brief) }

  /// A duration in whole days, hours or seconds: `7d`, `1h`, `60s`.
  @Sendable static func brief(_ span: Duration) -> String {
    let seconds = span.seconds
    for (unit, name) in [(86_400, "d"), (3600, "h")] as [(Int64, String)]
    where seconds > 0 && seconds % unit == 0 {
      return "\(seconds / unit)\(name)"
    }
    return "\(seconds)s"
  }
}

extension SettingForm<FsyncPolicy> {
  static var fsync: SettingForm {
    .init("; use always, never or an interval such as 1s") { text in
      switch text {
      case "always": .always
      case "never": .never
      default: Age.parse(text).map(FsyncPolicy.interval)
      }
    } text: { policy in
      switch policy {
      case .always: "always"
      case .never: "never"
      case .interval(let span): SettingForm<Duration>.brief(span)
      }
    }
  }
}
