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

/// A value of a CEF extension.
pub(crate) fn cef(bytes: &[u8], out: &mut Vec<u8>) {
    wire::escape::each_byte(bytes, out, |byte, valid, out| match byte {
        b'=' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b if b < 0x20 => {
            out.extend_from_slice(b"\\u00");
            wire::escape::hex(b, out);
        }
        b if !valid => {
            out.extend_from_slice(b"\\x");
            wire::escape::hex(b, out);
        }
        b => out.push(b),
    });
}
