/// What is for this machine alone: `<private:…>` in a record, of which the text after the colon is
/// masked before the record leaves.
///
/// A mark is never longer than its redaction rule takes, nor goes beyond its line: long texts and
/// texts of several lines become several marks.
package enum PrivateText {
  /// What begins a mark.
  package static let opening = "<private:"
  /// Most bytes that one mark holds.
  package static let longest = 4096

  private static let close = UInt8(ascii: ">")

  /// A text in marks; a `>` in it is written `&gt;`.
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
      // No character is cut in two.
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
