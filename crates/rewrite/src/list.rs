//! Reads lists as they stand in text: items separated by commas, in quotes where they contain one.

/// Calls `f` with each item, escapes resolved; `item` is scratch memory.
pub fn each_item(text: &[u8], item: &mut Vec<u8>, mut f: impl FnMut(&[u8])) {
    let mut rest = text.trim_ascii();
    if rest.is_empty() {
        return;
    }
    loop {
        item.clear();
        rest = match rest.split_first() {
            Some((quote @ (b'"' | b'\''), after)) => quoted(*quote, after, item),
            _ => {
                let end = rest.iter().position(|b| *b == b',').unwrap_or(rest.len());
                item.extend_from_slice(rest[..end].trim_ascii_end());
                &rest[end..]
            }
        };
        f(item);
        let Some(comma) = rest.iter().position(|b| *b == b',') else { return };
        rest = rest[comma + 1..].trim_ascii_start();
    }
}

/// Reads up to the closing quote; what follows it is returned.
fn quoted<'a>(quote: u8, mut rest: &'a [u8], item: &mut Vec<u8>) -> &'a [u8] {
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == quote {
            return rest;
        }
        if *byte != b'\\' {
            item.push(*byte);
            continue;
        }
        let Some((escaped, after)) = rest.split_first() else { return rest };
        rest = after;
        item.push(match escaped {
            b'a' => 0x07,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'x' => {
                let digits = rest.get(..2).and_then(|d| std::str::from_utf8(d).ok());
                match digits.and_then(|d| u8::from_str_radix(d, 16).ok()) {
                    Some(value) => {
                        rest = &rest[2..];
                        value
                    }
                    None => b'x',
                }
            }
            other => *other,
        });
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items() {
        for (text, expected) in [
            ("", vec![]),
            ("a", vec!["a"]),
            ("a,b, c ", vec!["a", "b", "c"]),
            ("a,,b,", vec!["a", "", "b", ""]),
            ("\"a,b\",'c d'", vec!["a,b", "c d"]),
            (r#""x\"y\n\x41""#, vec!["x\"y\nA"]),
            ("\"open", vec!["open"]),
        ] {
            let mut found = Vec::new();
            each_item(text.as_bytes(), &mut Vec::new(), |i| {
                found.push(String::from_utf8_lossy(i).into_owned())
            });
            assert_eq!(found, expected, "{text}");
        }
    }
}
