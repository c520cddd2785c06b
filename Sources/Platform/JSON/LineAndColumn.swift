/// Where a byte stands in a text, as editors count: both from 1, the column in characters (Unicode
/// scalars) from the last line feed.
///
/// - Parameter offset: held within the text; a byte inside a character counts as that character.
package func lineAndColumn(
    ofByte offset: Int, in bytes: [UInt8]
) -> (line: Int, column: Int) {
    var line = 1
    var column = 0
    for byte in bytes.prefix(max(0, offset)) {
        if byte == UInt8(ascii: "\n") {
            line += 1
            column = 0
        } else if byte & 0xc0 != 0x80 {
            column += 1
        }
    }
    // The bytes before hold the character's first byte when the offset points into its middle.
    let isInside = offset >= 0 && offset < bytes.count && bytes[offset] & 0xc0 == 0x80
    return (line, isInside ? max(column, 1) : column + 1)
}
