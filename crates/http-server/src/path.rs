//! Percent-encoding of paths and queries.

/// The text without its percent-encoding. `None` when it is broken, or has a byte that no path has.
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    plain(text, false)
}

fn plain(text: &str, is_query: bool) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            b'+' if is_query => b' ',
            other => other,
        };
        if byte == 0 {
            return None;
        }
        out.push(byte);
    }
    Some(out)
}

/// What stands behind the `?`.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a>(pub &'a str);

/// More parameters than that are not looked at.
const PARAMETERS_MAX: usize = 256;

impl Query<'_> {
    /// Names and values, in their order; those whose encoding is broken are left out.
    pub fn pairs(&self) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> + '_ {
        let parts = self.0.split('&').filter(|part| !part.is_empty()).take(PARAMETERS_MAX);
        parts.filter_map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Some((plain(name, true)?, plain(value, true)?))
        })
    }

    /// Something is said under this name, be it that it cannot be read.
    pub fn has(&self, name: &str) -> bool {
        self.0.split('&').any(|part| {
            let found = part.split_once('=').map_or(part, |(found, _)| found);
            plain(found, true).is_some_and(|found| found == name.as_bytes())
        })
    }

    /// The first value of a name, when it is text.
    pub fn get(&self, name: &str) -> Option<String> {
        let (_, value) = self.pairs().find(|(found, _)| found == name.as_bytes())?;
        String::from_utf8(value).ok()
    }

    /// The parameter is there, with a value that does not say no.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !matches!(value.as_str(), "0" | "false" | "no"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(decoded(text), expected.map(|text| text.as_bytes().to_vec()), "{text}");
        };
        check("/a/b", Some("/a/b"));
        check("/a%20b+c", Some("/a b+c"));
        check("/%2e%2E/", Some("/../"));
        check("/%", None);
        check("/%4", None);
        check("/%4g", None);
        check("/%00", None);
    }

    #[test]
    fn parameters() {
        let query = Query("a=1&b=x+y%26&&c&bad=%4&a=2");
        assert_eq!(query.get("a").as_deref(), Some("1"));
        assert_eq!(query.get("b").as_deref(), Some("x y&"));
        assert_eq!(query.get("c").as_deref(), Some(""));
        assert_eq!(query.get("bad"), None);
        assert_eq!(query.pairs().count(), 4);
        assert_eq!(Query(&"a=1&".repeat(10_000)).pairs().count(), PARAMETERS_MAX);
        assert!(query.has("a") && query.has("c") && query.has("bad") && !query.has("d") && !query.has("x"));
        assert!(query.is_on("a") && query.is_on("c") && !query.is_on("d") && !Query("a=false").is_on("a"));
    }
}
