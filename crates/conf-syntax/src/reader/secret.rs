//! Secrets: `` `file:PATH` `` and `` `credential:NAME` `` stand for the first line of a file that not
//! everybody can read, so that no password stands in the configuration.

use diag::{Diagnostic, Span};

use super::Reader;
use crate::ast::Quote;
use crate::literal::requote;
use crate::options::Secret;

/// A shorter text is no secret, and could not be kept out of what is shown.
const BYTES_MIN: usize = 4;

impl Reader<'_> {
    /// What stands for the name if it is that of a secret, written for the string it stands in, or as a
    /// string of its own.
    pub(super) fn secret(&mut self, name: &str, quoting: Option<Quote>, at: Span) -> Option<String> {
        let secret = match self.options.secret?(name)? {
            Ok(Secret::Known(value)) if value.len() < BYTES_MIN => {
                let message = format!("the secret `{name}` has fewer than {BYTES_MIN} bytes");
                return Some(self.no_secret(message, at));
            }
            Ok(secret) => secret,
            Err(error) => {
                return Some(self.no_secret(format!("cannot read the secret `{name}`: {error}"), at));
            }
        };
        let text = secret.text(name);
        let written = match quoting {
            None => requote(text, Quote::Double).map(|text| format!("\"{text}\"")),
            Some(quote) => requote(text, quote),
        };
        let Some(written) = written else {
            let message = format!("the secret `{name}` contains ' and stands in a string in single quotes");
            return Some(self.no_secret(message, at));
        };
        let known = (name.to_owned(), secret);
        if !self.config.secrets.contains(&known) {
            self.config.secrets.push(known);
        }
        Some(written)
    }

    fn no_secret(&mut self, message: String, at: Span) -> String {
        let help = "the file has the secret in its first line, and this program's user may read it";
        self.diags.push(Diagnostic::error("P0047", message, at).help(help));
        String::new()
    }
}

/// The ways in which what stands for a secret is written in a configuration; a string of its own goes first.
pub(super) fn spellings(value: &str) -> Vec<String> {
    let escaped = requote(value, Quote::Double).unwrap_or_default();
    vec![format!("\"{escaped}\""), escaped, value.to_owned()]
}
