//! Commands: arrays of bulk strings.

/// Appends a command of these arguments.
pub fn append<'a>(out: &mut Vec<u8>, arguments: impl Iterator<Item = &'a [u8]> + Clone) {
    head(out, b'*', arguments.clone().count());
    for argument in arguments {
        head(out, b'$', argument.len());
        out.extend_from_slice(argument);
        out.extend_from_slice(b"\r\n");
    }
}

fn head(out: &mut Vec<u8>, kind: u8, mut number: usize) {
    // As many digits as a `usize` has at most.
    let mut digits = [0u8; 20];
    let mut first = digits.len();
    for (at, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        first = at;
        if number == 0 {
            break;
        }
    }
    out.push(kind);
    out.extend_from_slice(digits.get(first..).unwrap_or_default());
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        let mut out = Vec::new();
        let long = [b'x'; 105];
        append(&mut out, [&b"SET"[..], b"", b"a\r\nb", &long].into_iter());
        let expected =
            format!("*4\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\na\r\nb\r\n$105\r\n{}\r\n", "x".repeat(105));
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}
