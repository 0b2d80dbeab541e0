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

/// Groups of hexadecimal digits, the last two of them perhaps an IPv4 address.
pub fn ipv6(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut groups = 0;
    let mut gap = false;
    loop {
        let len = text.get(at..)?.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        let digits = text.get(at..at + len)?;
        groups += 1;
        if groups > 1
            && text.get(at + len) == Some(&b'.')
            && let Some(end) = ipv4(text.get(at..)?)
        {
            return (gap || groups == 7).then_some(at + end);
        }
        if len == 0 {
            if gap && at > 1 {
                return None;
            }
        } else if value(digits) > 0xffff {
            return None;
        }
        at += len;
        if groups == 8 || text.get(at) != Some(&b':') {
            break;
        }
        at += 1;
        if text.get(at) == Some(&b':') {
            gap = true;
        }
    }
    (gap || groups == 8).then_some(at)
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
