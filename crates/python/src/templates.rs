//! Whether a text is a template: classes ask, and somebody above this crate knows.

use crate::marshal::{self, Item, Reader};
use std::sync::OnceLock;

/// Says what is wrong with a template.
pub type Judge = fn(&str) -> Result<(), String>;

static JUDGE: OnceLock<Judge> = OnceLock::new();

/// Who judges templates from now on. Until somebody does, every text is one.
pub fn judge_with(judge: Judge) {
    // It is the same in every configuration.
    let _ = JUDGE.set(judge);
}

/// What a process is answered; `None` when it has not asked for this.
pub(crate) fn reply(question: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(question);
    let (Ok(Item::Tuple(2)), Ok(b"template")) = (reader.item(), reader.text()) else { return None };
    let mut out = Vec::new();
    let Ok(text) = reader.text() else {
        marshal::text("it is no text", &mut out);
        return Some(out);
    };
    let text = String::from_utf8_lossy(text).into_owned();
    match JUDGE.get().map_or(Ok(()), |judge| judge(&text)) {
        Ok(()) => marshal::none(&mut out),
        Err(why) => marshal::text(&why, &mut out),
    }
    Some(out)
}
