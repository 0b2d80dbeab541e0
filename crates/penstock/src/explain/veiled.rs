//! Secrets are taken out of the texts of a message as they are kept, before they are cut further or written
//! in any other way.

use crate::subject::secrets::Veil;
use engine::watch::inquiry::{Happened, Story, Text};

pub fn of(story: &Story, veil: &Veil) -> Story {
    let mut story = story.clone();
    for told in &mut story.told {
        texts(&mut told.what, |text| text.kept = veil.over_bytes(&text.kept, text.is_cut));
    }
    story
}

fn texts(what: &mut Happened, mut each: impl FnMut(&mut Text)) {
    match what {
        Happened::Received(text) | Happened::Queued { output: text, .. } => each(text),
        Happened::MadeOf(parts) => parts.iter_mut().for_each(each),
        Happened::Judged { operands, .. } => operands.iter_mut().for_each(|(_, text)| each(text)),
        Happened::Changed { before, after, .. } => before.iter_mut().chain(after).for_each(each),
        Happened::Begins | Happened::Ends(_) | Happened::NotQueued { .. } | Happened::Is { .. } => {}
    }
}
