/// Marks text that must stay on this machine: `<private:…>` in a record, whose text after the colon
/// is masked before the record is sent.
///
/// A mark never exceeds the length that its redaction rule matches, nor its line: long texts and
/// texts of several lines become several marks.
package enum PrivateText {
  /// The start of a mark.
  package static let opening = "<private:"
  /// Maximum bytes in one mark.
  package static let longest = 4096

  private static let close = UInt8(ascii: ">")

  /// The text within marks; a `>` in it is written as `&gt;`.
  package static func marked(_ text: String) -> String {
    var bytes = Array(opening.utf8)
    var length = 0
    func end() {
      bytes.append(close)
      length = 0
    }
    for byte in text.utf8 {
      if byte == 0x0a {
        end()
        bytes.append(byte)
        bytes += opening.utf8
        continue
      }
      // Do not split a character.
      if length >= longest - 8, byte & 0xc0 != 0x80 {
        end()
        bytes += opening.utf8
      }
      let piece = byte == close ? Array("&gt;".utf8) : [byte]
      bytes += piece
      length += piece.count
    }
    end()
    return String(decoding: bytes, as: UTF8.self)
  }
}
