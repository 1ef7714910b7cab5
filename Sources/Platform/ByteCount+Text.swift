import Foundation

extension ByteCount {
  /// For a person, in decimal units: `1.2 MB`.
  package var text: String {
    var value = Double(bytes)
    for unit in ["B", "KB", "MB", "GB"] {
      if value < 1000 || unit == "GB" {
        return unit == "B" ? "\(bytes) B" : String(format: "%.1f %@", value, unit)
      }
      value /= 1000
    }
    return "\(bytes) B"
  }
}
