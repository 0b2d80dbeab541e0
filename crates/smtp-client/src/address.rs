//! Whom mails are from and to.

use crate::mail::encoded;

/// An address with the name that is shown for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailbox {
    pub name: Option<String>,
    pub address: String,
}

/// Longer ones no server takes: RFC 5321 section 4.5.3.1.3.
const ADDRESS_BYTES_MAX: usize = 254;

impl Mailbox {
    /// The error says what is wrong with the address.
    pub fn new(name: Option<&str>, address: &str) -> Result<Mailbox, String> {
        let is_plain =
            address.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>(),;:\\\"[]".contains(&byte));
        if address.is_empty()
            || !is_plain
            || address.len() > ADDRESS_BYTES_MAX
            || address.matches('@').count() > 1
        {
            return Err(format!("`{address}` is no address of mail"));
        }
        let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
        Ok(Mailbox { name, address: address.to_owned() })
    }

    /// All of a list, where a word without `@` in front of one that has it is a name.
    pub fn all<'a>(words: impl Iterator<Item = &'a str>) -> Result<Vec<Mailbox>, String> {
        let mut boxes = Vec::new();
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let follows = words.peek().is_some_and(|next| next.contains('@'));
            boxes.push(match (word.contains('@'), follows) {
                (false, true) => Mailbox::new(Some(word), words.next().unwrap_or_default())?,
                _ => Mailbox::new(None, word)?,
            });
        }
        Ok(boxes)
    }

    /// As headers have it.
    pub fn shown(&self) -> String {
        match &self.name {
            None => self.address.clone(),
            Some(name) => format!("{} <{}>", phrase(name), self.address),
        }
    }
}

/// A name as it may stand in front of an address: quoted, or encoded.
fn phrase(name: &str) -> String {
    match name.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        true => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
        false => encoded(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_names_and_addresses() {
        let shown = |words: &[&str]| {
            let boxes = Mailbox::all(words.iter().copied());
            boxes.map(|boxes| boxes.iter().map(Mailbox::shown).collect::<Vec<_>>())
        };
        let all = shown(&["a@b", "The \"Boss\"", "c@d", "root", "é", "e@f"]);
        assert_eq!(
            all.expect("good"),
            ["a@b", "\"The \\\"Boss\\\"\" <c@d>", "root", "=?utf-8?B?w6k=?= <e@f>"]
        );
        assert!(shown(&["a@b@c"]).is_err() && shown(&["a b@c"]).is_err() && shown(&[""]).is_err());
        assert!(shown(&["a@b\r\nDATA"]).is_err());
    }
}
