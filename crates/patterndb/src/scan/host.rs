//! Host names and mail addresses, at the beginning of a text, as far as they go.

use super::Hit;

fn in_label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// At least two labels; a point may stand at the end.
pub fn hostname(text: &[u8]) -> Option<usize> {
    let (mut at, mut labels) = (0, 0);
    loop {
        let len = text.get(at..)?.iter().take_while(|b| in_label(**b)).count();
        if len == 0 {
            break;
        }
        (at, labels) = (at + len, labels + 1);
        if text.get(at) != Some(&b'.') {
            break;
        }
        at += 1;
    }
    (labels > 1).then_some(at)
}

/// What can stand before the at sign.
pub fn in_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte)
}

/// `trim` stands for brackets around the address: any number of them on both sides is consumed and not kept.
pub fn email(text: &[u8], trim: &[u8]) -> Option<Hit> {
    let run = |at: usize| Some(text.get(at..)?.iter().take_while(|b| trim.contains(b)).count());
    let start = run(0)?;
    let local = text.get(start..)?.iter().take_while(|b| in_local(**b)).count();
    let local_text = text.get(start..start + local)?;
    // Nothing at all before the at sign is taken, as in syslog-ng.
    if local_text.first() == Some(&b'.') || local_text.last() == Some(&b'.') {
        return None;
    }
    if text.get(start + local) != Some(&b'@') {
        return None;
    }
    let domain = start + local + 1;
    let end = domain + hostname(text.get(domain..)?)?;
    Some(Hit { len: end + run(end)?, start, end })
}
