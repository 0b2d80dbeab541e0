//! Writes octet counted frames, RFC 6587 section 3.4.1.

/// Bytes of the longest payload that is sent; a longer one is cut.
pub const PAYLOAD_MAX: usize = 9_999_999;

/// Appends `len ` and the payload.
pub fn append(out: &mut Vec<u8>, payload: &[u8]) {
    let payload = payload.get(..PAYLOAD_MAX).unwrap_or(payload);
    append_count(out, payload.len());
    out.extend_from_slice(payload);
}

/// Appends the count and the blank of a payload of `size` bytes.
#[inline]
pub fn append_count(out: &mut Vec<u8>, size: usize) {
    let mut digits = [b' '; 21];
    let mut at = digits.len() - 1;
    let mut rest = size;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

/// Puts the count in front of a payload that was appended to `out` at `start` without knowing its size. The
/// payload is moved by the few bytes of the count; one that is too long is cut.
pub fn enclose(out: &mut Vec<u8>, start: usize) {
    out.truncate(start.saturating_add(PAYLOAD_MAX));
    let size = out.len().saturating_sub(start);
    let end = out.len();
    append_count(out, size);
    let count = out.len() - end;
    if let Some(frame) = out.get_mut(start..) {
        frame.rotate_right(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let mut out = b"before".to_vec();
        append(&mut out, b"hello\n");
        append(&mut out, b"");
        assert_eq!(out, b"before6 hello\n0 ");
        let mut out = b"before".to_vec();
        out.extend_from_slice(&[b'x'; 1234]);
        enclose(&mut out, 6);
        assert_eq!(&out[..13], b"before1234 xx");
        assert_eq!(out.len(), 6 + 5 + 1234);
        let mut long = Vec::new();
        append(&mut long, &vec![b'y'; PAYLOAD_MAX + 5]);
        assert_eq!((&long[..9], long.len()), (&b"9999999 y"[..], PAYLOAD_MAX + 8));
    }
}
