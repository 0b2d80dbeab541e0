//! Escapes: of template-escape(yes), which makes what a macro printed safe inside quotes, and of WELF and
//! CEF.

/// Escapes everything from `start` on: a backslash before quotes and backslashes, three octal digits for
/// control characters.
pub(crate) fn escape_tail(out: &mut Vec<u8>, start: usize) {
    let needs = |b: &u8| matches!(b, b'"' | b'\'' | b'\\') || *b < 0x20;
    let tail = out.get(start..).unwrap_or_default();
    let Some(first) = tail.iter().position(needs) else { return };
    let raw = out.split_off(start + first);
    for byte in raw {
        match byte {
            b'"' | b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b if b < 0x20 => crate::facts::put(out, format_args!("\\{b:03o}")),
            b => out.push(b),
        }
    }
}

/// Escapes a text that may be no UTF-8: a backslash before itself and `quote`, letters or `\xNN` for control
/// characters and for bytes that belong to no character.
pub(crate) fn binary(bytes: &[u8], quote: Option<u8>, out: &mut Vec<u8>) {
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
            crate::json::hex(b, out);
        }
        b => out.push(b),
    });
}

/// A value of a CEF extension.
pub(crate) fn cef(bytes: &[u8], out: &mut Vec<u8>) {
    each_byte(bytes, out, |byte, valid, out| match byte {
        b'=' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b if b < 0x20 => {
            out.extend_from_slice(b"\\u00");
            crate::json::hex(b, out);
        }
        b if !valid => {
            out.extend_from_slice(b"\\x");
            crate::json::hex(b, out);
        }
        b => out.push(b),
    });
}

/// Calls `put` with every byte and whether it belongs to a character.
fn each_byte(bytes: &[u8], out: &mut Vec<u8>, put: impl Fn(u8, bool, &mut Vec<u8>)) {
    for chunk in bytes.utf8_chunks() {
        chunk.valid().bytes().for_each(|byte| put(byte, true, out));
        chunk.invalid().iter().for_each(|byte| put(*byte, false, out));
    }
}
