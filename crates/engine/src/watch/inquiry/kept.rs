//! What is remembered of an event.

use super::{Happened, Text};
use crate::watch::{At, Event, What};

/// An event as it is remembered. Conditions are remembered once they are answered.
pub(super) fn kept<'a>(event: &Event<'a>, bytes_max: usize) -> Option<(Option<At<'a>>, Happened)> {
    let text_of = |bytes: &[u8]| Text::of(bytes, bytes_max);
    Some(match event {
        Event::Received(text) => (None, Happened::Received(text_of(text))),
        Event::MadeOf(parts) => (None, Happened::MadeOf(parts.iter().map(|part| text_of(part)).collect())),
        Event::Begins(at) => (Some(*at), Happened::Begins),
        Event::Judged(at, judged) => {
            let operands = judged.operands.iter().chain(judged.asks);
            let operands = operands.map(|(name, text)| (*name, text_of(text))).collect();
            (Some(*at), Happened::Judged { function: judged.function, operands, holds: judged.holds? })
        }
        Event::Changed(change) => {
            let (name, is_tag) = match change.what {
                What::Value(name) => (name.to_owned(), false),
                What::Tag(name) => (name.to_owned(), true),
            };
            let (before, after) =
                (change.before.as_deref().map(text_of), change.after.as_deref().map(text_of));
            (None, Happened::Changed { name, is_tag, before, after, kind: change.kind })
        }
        Event::Ends(at, verdict) => (Some(*at), Happened::Ends(*verdict)),
        Event::Queued { at, driver, name, output, receipt } => {
            let (name, output, receipt) = ((*name).to_owned(), text_of(output), receipt.get().cloned());
            (Some(*at), Happened::Queued { driver, name, output, receipt })
        }
        Event::NotQueued { at, driver } => (Some(*at), Happened::NotQueued { driver }),
        Event::Finished => return None,
    })
}
