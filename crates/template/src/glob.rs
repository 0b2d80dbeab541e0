//! Globs over names and list items: `*` is any text, `?` any byte.

/// Linear: only the last star is ever tried again.
pub(crate) fn matches(text: &[u8], pattern: &[u8]) -> bool {
    let (mut t, mut p) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(b) if *b == b'?' || *b == text[t] => (t, p) = (t + 1, p + 1),
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (t, p) = (from + 1, at + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|b| *b == b'*')
}

/// Whether a pattern can match more than itself.
pub(crate) fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}
