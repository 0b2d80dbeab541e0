//! What grouping-by() and group-lines() have in common: the key, the scope and the timeout of their groups,
//! and the order in them.

use super::options::{scope, state_key};
use super::{Contexts, Entry, Pass, Scope, State};
use crate::build::Build;
use conf_schema::Settings;
use filter::FilterContext;
use record::{Batch, Demand, Record};
use std::sync::Arc;
use template::{Msg, RenderContext, Template};

pub struct Grouped {
    key: Arc<Template>,
    sort_key: Option<Arc<Template>>,
    pub scope: Scope,
    /// Seconds.
    timeout: i64,
}

impl Grouped {
    /// `example` is a usual timeout, for the remedy.
    pub fn build(settings: &Settings, b: &mut Build<'_>, example: u32) -> Option<Grouped> {
        let key = b.required_template(settings, "key");
        let sort_key = match settings.template("sort-key").cloned() {
            Some(text) => Some(b.template(&text)?),
            None => None,
        };
        let timeout = settings.int("timeout");
        if timeout.is_none() {
            let text = format!("{}() needs timeout()", settings.component());
            b.wrong(text, None, &format!("as timeout({example}): seconds"));
        }
        Some(Grouped { key: key?, sort_key, scope: scope(settings), timeout: timeout? })
    }

    /// New contexts, known by persist-name() or by what is grouped by.
    pub fn contexts<T: Send + 'static>(&self, settings: &Settings) -> Arc<Contexts<T>> {
        Contexts::new(&state_key(settings.component(), settings, self.scope), true)
    }

    /// Appends a message's key with its scope; returns where the key itself begins.
    pub fn write(
        &self,
        batch: &Batch,
        record: &Record,
        render: &mut RenderContext,
        key: &mut Vec<u8>,
    ) -> usize {
        self.scope.write(batch, record, key);
        let id = key.len();
        self.key.render(Msg { batch, record }, render, key);
        id
    }

    /// When the group of a message is closed if no other one comes.
    pub fn deadline(&self, pass: &Pass, entry: &Entry) -> i64 {
        pass.time(entry.position).saturating_add(self.timeout)
    }

    /// sort-key(): by the bytes of the printed keys; those with one key stay as they came.
    pub fn sort(&self, messages: &mut Arc<Batch>, cx: &mut FilterContext) {
        let Some(key) = &self.sort_key else { return };
        let mut text = cx.work.text();
        let mut order = Vec::with_capacity(messages.records.len());
        for record in &messages.records {
            let start = text.len();
            key.render(Msg { batch: messages, record }, &mut cx.render, &mut text);
            order.push((start..text.len(), *record));
        }
        order.sort_by(|(a, _), (b, _)| text.get(a.clone()).cmp(&text.get(b.clone())));
        if let Some(batch) = Arc::get_mut(messages) {
            batch.records.clear();
            batch.records.extend(order.into_iter().map(|(_, record)| record));
        }
        cx.work.keep_text(text);
    }

    pub fn reads(&self, demand: &mut Demand) {
        self.key.reads(demand);
        self.scope.reads(demand);
        self.sort_key.iter().for_each(|key| key.reads(demand));
        // Correlation time.
        demand.stamp = true;
    }
}

/// The contexts of a new place in a log path: the earlier ones if they are still of this kind, else new ones
/// known by the same name.
pub fn succeed<T: Send + 'static>(of: &Contexts<T>, earlier: Option<Arc<dyn State>>) -> Arc<Contexts<T>> {
    let earlier = earlier.and_then(|state| Contexts::of(state, true));
    earlier.unwrap_or_else(|| Contexts::new(State::key(of), true))
}
