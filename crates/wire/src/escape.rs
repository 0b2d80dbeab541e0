//! Escapes for texts that may be no UTF-8.

/// Escapes a text that may be no UTF-8: a backslash before itself and `quote`, letters or `\xNN` for control
/// characters and for bytes that belong to no character.
pub fn binary(bytes: &[u8], quote: Option<u8>, out: &mut Vec<u8>) {
    each_byte(bytes, out, |byte, valid, out| match byte {
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x0c => out.extend_from_slice(b"\\f"),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b if Some(b) == quote => out.extend_from_slice(&[b'\\', b]),
        b if b < 0x20 || !valid => {
            out.extend_from_slice(b"\\x");
            hex(b, out);
        }
        b => out.push(b),
    });
}

/// Calls `put` with every byte and whether it belongs to a character.
pub fn each_byte(bytes: &[u8], out: &mut Vec<u8>, put: impl Fn(u8, bool, &mut Vec<u8>)) {
    for chunk in bytes.utf8_chunks() {
        chunk.valid().bytes().for_each(|byte| put(byte, true, out));
        chunk.invalid().iter().for_each(|byte| put(*byte, false, out));
    }
}

/// Appends the two digits of a byte.
pub fn hex(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}
