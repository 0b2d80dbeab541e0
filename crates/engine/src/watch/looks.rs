//! What is looked at on the way of messages, beside what happens to them: templates printed where messages
//! come by, for messages for which a filter holds there.

use super::{At, Event, Kind, Sight};
use crate::plan_map::StepId;
use filter::Filter;
use std::collections::BTreeSet;
use std::sync::Arc;
use template::{Msg, Template};

#[derive(Clone)]
pub struct Looks {
    pub templates: Vec<Arc<Template>>,
    pub places: Places,
    /// Holds for the message there.
    pub filter: Option<Arc<Filter>>,
    /// Bytes that are kept of one text.
    pub bytes_max: usize,
}

/// Where messages are looked at.
#[derive(Clone, PartialEq, Eq)]
pub enum Places {
    Destinations,
    /// Behind each step, where they come from their source, and at destinations.
    All,
    Steps(BTreeSet<StepId>),
}

impl Looks {
    /// Nothing is looked at.
    pub fn nowhere(bytes_max: usize) -> Looks {
        Looks { templates: Vec::new(), places: Places::Steps(BTreeSet::new()), filter: None, bytes_max }
    }

    fn is_place(&self, at: At<'_>) -> bool {
        match &self.places {
            Places::Destinations => at.statement.kind == Kind::Destination,
            Places::All => true,
            Places::Steps(steps) => steps.contains(&at.id),
        }
    }

    /// What is written there belongs to what is seen; nothing else that happens to a message does.
    pub fn shows(&self, event: &Event<'_>) -> bool {
        matches!(event, Event::Queued { at, .. } if self.is_place(*at))
    }

    /// The templates printed for a message, and its tags, where it is looked at.
    pub fn at(&self, sight: &mut Sight<'_>) -> Option<(Vec<Vec<u8>>, Vec<String>)> {
        let (batch, record) = (sight.batch, sight.record);
        let holds = |filter: &Arc<Filter>| filter.holds_for(batch, record, sight.cx);
        if !self.is_place(sight.at) || !self.filter.as_ref().is_none_or(holds) {
            return None;
        }
        let print = |template: &Arc<Template>| {
            let mut text = Vec::new();
            template.render(Msg { batch, record }, &mut sight.cx.render, &mut text);
            text.truncate(self.bytes_max);
            text
        };
        let texts = self.templates.iter().map(print).collect();
        let tags = batch.tags(record).into_iter().map(|tag| batch.tag_name(tag).to_owned()).collect();
        Some((texts, tags))
    }
}
