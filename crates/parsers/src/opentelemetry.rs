//! `opentelemetry()`: takes records apart that came over OpenTelemetry's protocol.

mod log;
mod metric;
mod span;
mod values;

use crate::build::Build;
use crate::found::Found;
use crate::learned::Learned;
use crate::names::Names;
use crate::options::PARSER_COUNTED;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use filter::{FilterContext, new_asker};
use record::{Batch, Demand, NameId, Record, Span, Stamp, ValueType};
use std::sync::Arc;
use values::{Out, attributes, text_attribute};
use wire::protobuf::{Malformed, Value, fields};

pub static OPENTELEMETRY: Component = Component {
    context: Context::Parser,
    name: "opentelemetry",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER_COUNTED],
    own: &[Opt::new(
        "set-hostname",
        Kind::Bool,
        Preset::Bool(true),
        "HOST becomes the attribute `host.name` of the resource, where it has one.",
    )],
    presets: &[],
    not_yet: &[],
    summary: "Takes records apart that the source opentelemetry() has received: resource, scope and record become values below `.otel.`, each \
              with its type. The time, the severity and the body of a log record become those of the message. Other messages do not match. \
              See docs/opentelemetry.md.",
    example: "opentelemetry(set-hostname(no))",
    cost: Some(Cost::elsewhere("One pass over the record; values that nothing reads are not kept.")),
};

/// What stands before all names.
const PREFIX: &str = ".otel.";

#[derive(Clone)]
struct OpenTelemetry {
    raw: Raw<NameId>,
    names: Names,
    sets_hostname: bool,
    asker: u64,
}

/// What the source puts down of what it has received: the names, or the values under these.
#[derive(Clone, Copy, Default)]
struct Raw<T> {
    kind: T,
    resource: T,
    resource_schema: T,
    scope: T,
    scope_schema: T,
    log: T,
    metric: T,
    span: T,
}

impl<T> Raw<T> {
    #[inline]
    fn map<U>(self, mut f: impl FnMut(T) -> U) -> Raw<U> {
        Raw {
            kind: f(self.kind),
            resource: f(self.resource),
            resource_schema: f(self.resource_schema),
            scope: f(self.scope),
            scope_schema: f(self.scope_schema),
            log: f(self.log),
            metric: f(self.metric),
            span: f(self.span),
        }
    }
}

/// What is kept from one batch to the next.
#[derive(Default)]
struct Memory {
    found: Found,
    learned: Learned,
    key: Vec<u8>,
    text: Vec<u8>,
}

/// What a record says of its message beside values.
#[derive(Clone, Copy, Default)]
struct Head {
    is_log: bool,
    stamp: Option<Stamp>,
    received: Option<Stamp>,
    pri: Option<u16>,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let at = b.span;
    let mut id = |name: &str| b.name(name, at);
    let raw = Raw {
        kind: id(".otel_raw.type")?,
        resource: id(".otel_raw.resource")?,
        resource_schema: id(".otel_raw.resource_schema_url")?,
        scope: id(".otel_raw.scope")?,
        scope_schema: id(".otel_raw.scope_schema_url")?,
        log: id(".otel_raw.log")?,
        metric: id(".otel_raw.metric")?,
        span: id(".otel_raw.span")?,
    };
    let sets_hostname = settings.bool("set-hostname").unwrap_or(true);
    Some(Arc::new(OpenTelemetry { raw, names: Names::all(PREFIX), sets_hostname, asker: new_asker() }))
}

impl OpenTelemetry {
    /// Finds everything in a message; `None` when there is no record in it, or one that is damaged.
    fn take_apart(&self, batch: &Batch, record: &Record, out: &mut Out<'_>) -> Option<Head> {
        let raw = self.raw_values(batch, record);
        let kind = raw.kind?;
        let own = match kind {
            b"log" => raw.log?,
            b"metric" => raw.metric?,
            b"span" => raw.span?,
            _ => return None,
        };
        out.text("type", kind, ValueType::String);
        let resource = raw.resource.unwrap_or_default();
        self.around(resource, "resource", out).ok()?;
        if self.sets_hostname
            && let Ok(Some(host)) = text_attribute(resource, 1, b"host.name")
            && !host.is_empty()
        {
            out.put(NameId::HOST, host, ValueType::String);
        }
        out.text("resource.schema_url", raw.resource_schema.unwrap_or_default(), ValueType::String);
        self.around(raw.scope.unwrap_or_default(), "scope", out).ok()?;
        out.text("scope.schema_url", raw.scope_schema.unwrap_or_default(), ValueType::String);
        match kind {
            b"log" => log::take_apart(own, record, out).ok(),
            b"metric" => metric::take_apart(own, out).ok().map(|()| Head::default()),
            _ => span::take_apart(own, out).ok().map(|()| Head::default()),
        }
    }

    /// What the source has put there, found in one walk: of two with one name the first counts.
    fn raw_values<'a>(&self, batch: &'a Batch, record: &Record) -> Raw<Option<&'a [u8]>> {
        let (names, mut found) = (&self.raw, Raw::<Option<Option<&[u8]>>>::default());
        for (name, value) in batch.entries(record) {
            let place = match name {
                _ if name == names.kind => &mut found.kind,
                _ if name == names.resource => &mut found.resource,
                _ if name == names.resource_schema => &mut found.resource_schema,
                _ if name == names.scope => &mut found.scope,
                _ if name == names.scope_schema => &mut found.scope_schema,
                _ if name == names.log => &mut found.log,
                _ if name == names.metric => &mut found.metric,
                _ if name == names.span => &mut found.span,
                _ => continue,
            };
            place.get_or_insert(value.map(|value| value.bytes));
        }
        found.map(Option::flatten)
    }

    /// A resource, or a scope.
    fn around(&self, message: &[u8], what: &str, out: &mut Out<'_>) -> Result<(), Malformed> {
        let is_scope = what == "scope";
        let (mut name, mut version, mut dropped) = (&[][..], &[][..], 0);
        for field in fields(message) {
            match (is_scope, field?) {
                (true, (1, Value::Bytes(text))) => name = text,
                (true, (2, Value::Bytes(text))) => version = text,
                (true, (4, Value::Varint(count))) | (false, (2, Value::Varint(count))) => dropped = count,
                _ => {}
            }
        }
        if is_scope {
            out.text("scope.name", name, ValueType::String);
            out.text("scope.version", version, ValueType::String);
        }
        attributes(message, if is_scope { 3 } else { 1 }, &[what, ".attributes."], out)?;
        out.number(
            if is_scope { "scope.dropped_attributes_count" } else { "resource.dropped_attributes_count" },
            dropped,
        );
        Ok(())
    }

    fn raw_names(&self) -> [NameId; 6] {
        let Raw { kind, resource, resource_schema, scope, scope_schema, log, .. } = self.raw;
        [kind, resource, resource_schema, scope, scope_schema, log]
    }
}

impl Parse for OpenTelemetry {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        selection.retain(|index| {
            let index = *index as usize;
            let Some(record) = batch.records.get(index).copied() else { return false };
            let Memory { found, learned, key, text } = &mut *memory;
            found.clear();
            let facts = learned.of(batch, |batch, learned| {
                let mut out = Out { names: &self.names, found, learned, key, text, batch };
                self.take_apart(batch, &record, &mut out)
            });
            let Some(facts) = facts else { return false };
            if facts.is_log {
                // What is changed from here on is what goes on; of metrics and traces it is what came.
                batch.unset_all(index, &self.raw_names());
            }
            memory.found.store(batch, index, Span::new(0, 0));
            if let Some(record) = batch.records.get_mut(index) {
                record.pri = facts.pri.unwrap_or(record.pri);
                if let Some(stamp) = facts.stamp {
                    (record.stamp, record.stamp_text) = (stamp, Record::NO_TEXT);
                }
            }
            facts.received.into_iter().for_each(|received| batch.set_received(index, received));
            true
        });
        cx.work.keep_state(self.asker, memory);
    }

    fn reads(&self, demand: &mut Demand) {
        self.raw_names()
            .into_iter()
            .chain([self.raw.metric, self.raw.span])
            .for_each(|name| demand.name(name));
    }

    fn writes(&self) -> Writes {
        let mut names = vec![NameId::MESSAGE, NameId::HOST];
        names.extend(self.raw_names());
        Writes { names, stamp: true, pri: true, ..Writes::prefix(PREFIX) }
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        match demand.everything {
            true => None,
            false => Some(Arc::new(OpenTelemetry { names: self.names.narrowed(demand), ..self.clone() })),
        }
    }
}

#[cfg(test)]
mod tests;
