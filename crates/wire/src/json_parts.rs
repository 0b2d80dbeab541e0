//! Where the parts of a JSON text stand, for sources that take some of them as they came. Reads what was
//! found to be JSON before; of anything else it finds something or nothing, and never more than there is.

/// The members of an object: name and value, each as it stands in the text, the name without its quotes.
pub struct Members<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Members<'a> {
    /// `None` when the text does not begin with a brace.
    pub fn of(text: &'a str) -> Option<Members<'a>> {
        let at = blanks(text.as_bytes(), 0);
        (text.as_bytes().get(at) == Some(&b'{')).then_some(Members { text, at: at + 1 })
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        let bytes = self.text.as_bytes();
        let mut at = blanks(bytes, self.at);
        if bytes.get(at) == Some(&b',') {
            at = blanks(bytes, at + 1);
        }
        let end = string_end(bytes, at)?;
        let name = self.text.get(at + 1..end.checked_sub(1)?)?;
        at = blanks(bytes, end);
        if bytes.get(at) != Some(&b':') {
            return None;
        }
        at = blanks(bytes, at + 1);
        let end = value_end(bytes, at)?;
        self.at = end;
        Some((name, self.text.get(at..end)?))
    }
}

/// Behind the value that begins here.
pub fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => nested_end(bytes, at),
        _ => {
            let rest = bytes.get(at..)?;
            let is_end = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
            let length = rest.iter().position(is_end).unwrap_or(rest.len());
            (length > 0).then_some(at + length)
        }
    }
}

fn nested_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Behind the closing quote of the string that begins here.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        let rest = bytes.get(at..)?;
        let found = memchr::memchr2(b'"', b'\\', rest)?;
        at += found;
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

/// The first byte that is no blank.
pub fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn members(text: &str) -> Vec<(&str, &str)> {
        Members::of(text).into_iter().flatten().collect()
    }

    #[test]
    fn members_as_they_stand() {
        let check = |text: &str, expected: &[(&str, &str)]| assert_eq!(members(text), expected, "{text}");
        check("{}", &[]);
        check("{\"a\":1}", &[("a", "1")]);
        check(
            " { \"a\" : \"x, }\" , \"b\":{\"c\":[1,{\"d\":\"]}\"}]} ,\"e\":null}",
            &[("a", "\"x, }\""), ("b", "{\"c\":[1,{\"d\":\"]}\"}]}"), ("e", "null")],
        );
        check("{\"a\\\"b\":\"c\\\\\",\"d\":-1.5e3 }", &[("a\\\"b", "\"c\\\\\""), ("d", "-1.5e3")]);
        check("[1]", &[]);
        check("{\"a\":", &[]);
        check("{\"a\":\"x", &[]);
        check("{\"a\":[1", &[]);
    }

    proptest! {
        #[test]
        fn whatever_it_is_nothing_breaks(text in "[{}\\[\\]\",:\\\\a1é ]{0,60}") {
            let total: usize = members(&text).iter().map(|(n, v)| n.len() + v.len()).sum();
            prop_assert!(total <= text.len());
        }
    }
}
