//! IPv4, IPv6 and link-layer addresses, at the beginning of a text, as far as they go.

/// Four numbers up to 255; what stands behind the fourth is not looked at.
pub fn ipv4(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        let digits = text.get(at..)?.iter().take_while(|b| b.is_ascii_digit());
        let (len, value) = digits.fold((0, 0u32), |(n, v), b| {
            (n + 1, v.saturating_mul(10).saturating_add(u32::from(b - b'0')).min(100_000))
        });
        if len == 0 || value > 255 {
            return None;
        }
        at += len;
        if part < 3 {
            if text.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
    }
    Some(at)
}

/// Groups of hexadecimal digits, the last two of them perhaps an IPv4 address. A single colon at the end is
/// left.
pub fn ipv6(text: &[u8]) -> Option<usize> {
    if text.starts_with(b":::") {
        return None;
    }
    let mut gap = text.starts_with(b"::");
    let mut at = if gap { 2 } else { 0 };
    let mut groups = 0;
    loop {
        let len = text.get(at..)?.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        if len == 0 {
            let single = at > 2 && text.get(at - 2) != Some(&b':');
            at -= usize::from(single);
            break;
        }
        if (gap || groups > 0)
            && text.get(at + len) == Some(&b'.')
            && let Some(end) = ipv4(text.get(at..)?)
        {
            return (gap || groups == 6).then_some(at + end);
        }
        if value(text.get(at..at + len)?) > 0xffff {
            return None;
        }
        groups += 1;
        at += len;
        match text.get(at..)? {
            [b':', b':', b':', ..] => return None,
            [b':', b':', ..] if gap => return None,
            [b':', b':', ..] => (gap, at) = (true, at + 2),
            [b':', ..] if groups < 8 => at += 1,
            _ => break,
        }
    }
    (gap && groups < 7 || groups == 8 && !gap).then_some(at)
}

fn value(digits: &[u8]) -> u32 {
    let digit = |b: &u8| char::from(*b).to_digit(16).unwrap_or(0);
    digits.iter().fold(0, |v: u32, b| (v.saturating_mul(16) + digit(b)).min(0x10_0000))
}

/// Two digits each, at most `max` of them.
pub fn octets(text: &[u8], max: usize) -> Option<usize> {
    let octet = |at: usize| match text.get(at..) {
        Some([a, b, ..]) => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        _ => false,
    };
    if !octet(0) {
        return None;
    }
    let mut at = 2;
    for _ in 1..max {
        if text.get(at) != Some(&b':') || !octet(at + 1) {
            break;
        }
        at += 3;
    }
    Some(at)
}
