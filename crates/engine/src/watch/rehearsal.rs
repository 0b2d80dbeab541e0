//! A message run through a compiled configuration that is not in effect: everything is done but delivering.

use super::inquiry::Story;
use crate::compile::PlannedSource;
use crate::program::Scratch;
use crate::source::{Carrier, Source, SourceName};
use record::{Batch, Context, Record, Span, Stamp};
use std::sync::Arc;
use template::Identity;

/// The text of a message, and as what it comes.
pub struct Input<'a> {
    /// Without what frames it: no octet count, no line feed.
    pub text: &'a [u8],
    pub context: Context,
    pub received: Stamp,
}

/// What the configuration would do with a message that comes in at this source. `None` for a source that
/// makes its messages itself: there is no text of theirs to be read.
pub fn run(planned: &PlannedSource, identity: &Identity, input: &Input<'_>) -> Option<Story> {
    let settings = planned.settings();
    if settings.is_ready_made() {
        return None;
    }
    let name = SourceName {
        group: planned.group.as_str().into(),
        id: planned.id.clone(),
        driver: planned.driver.driver,
        instance: planned.driver.instance.clone(),
        carrier: Carrier::Other,
    };
    let source = Source::new(name, settings);
    let context = Arc::new(input.context.clone());
    let mut batch = Batch::new(input.text.to_vec(), context, input.received);
    batch.records.push(Record::new(Span::new(0, input.text.len())));
    let mut scratch = Scratch::new(identity.clone());
    source.received(&batch, input.text.len());
    source.rehearse(&mut batch, &mut scratch).pop()
}
