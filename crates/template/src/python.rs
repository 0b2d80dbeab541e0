//! Values of messages as Python classes get them: those that go with each message, and those that a class
//! asks for later.

mod peer;

use crate::value_pairs::ValuePairs;
use crate::{Msg, NoScope, RenderContext, Template, TemplateOptions, list};
use peer::comes_from;
use python::marshal::{self, Item, Malformed, Reader};
use python::{Names, Printed, Seqnum, Wanted};
use record::{Batch, Demand, Flags, NameId, Record, Stamp, Value, ValueType, datetime_seconds};
use std::collections::HashMap;
use std::sync::Arc;
use wire::sdata::{PREFIX, lookup, params, unescape};

/// What stands for the sender's address in what a class has set; `syslogng.message` has the same number.
const PEER: i64 = 3;

/// Names asked for later of which it is remembered how they are found.
const ASKED_MAX: usize = 256;

/// Adds what Python may look at: nobody knows what a class reads.
pub fn reads(demand: &mut Demand) {
    (demand.everything, demand.stamp, demand.pri) = (true, true, true);
    (demand.sdata, demand.tags) = (true, true);
    (NameId::HOST.0..=NameId::FILE_NAME.0).for_each(|n| demand.name(NameId(n)));
}

/// How the values of names are found. One per worker and class.
pub struct Values {
    options: TemplateOptions,
    /// Of a driver, the options of templates that are none of its own.
    globals: Option<TemplateOptions>,
    names: Arc<Names>,
    row: Vec<Getter>,
    asked: HashMap<Box<str>, Getter>,
    text: Vec<u8>,
}

enum Getter {
    Name(NameId),
    /// No configuration knows it: a batch may.
    Unknown(Box<str>),
    /// Name, with `.SDATA.` before it.
    Sdata(Box<str>),
    Macro(Box<Template>),
    /// What a template prints, a text whatever it is.
    Text(Box<Template>, Seqnum),
    Keys,
    Stamp,
    Nothing,
}

impl Getter {
    fn of(name: &str, options: &TemplateOptions, globals: &TemplateOptions) -> Getter {
        let compiled = |text: &str| Template::compile(text, options, &NoScope).ok().map(Box::new);
        let printed = |Printed { template, of_driver, in_send_zone, seqnum }| {
            let options = if of_driver { options } else { globals };
            let options = if in_send_zone { options.clone() } else { options.for_file_names() };
            let compiled = Template::compile(template, &options, &NoScope).ok()?;
            Some(Getter::Text(Box::new(compiled), seqnum))
        };
        match Wanted::of(name) {
            Wanted::Keys => Getter::Keys,
            Wanted::Stamp => Getter::Stamp,
            Wanted::Template(text) => printed(text).unwrap_or(Getter::Nothing),
            Wanted::Value(name) if crate::is_computed(name) => {
                compiled(&format!("${{{name}}}")).map_or(Getter::Nothing, Getter::Macro)
            }
            Wanted::Value(name) if name.starts_with(PREFIX) => Getter::Sdata(name.into()),
            Wanted::Value(name) => record::lookup(name).map_or(Getter::Unknown(name.into()), Getter::Name),
        }
    }
}

impl std::fmt::Debug for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Values").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Values {
    pub fn new(options: &TemplateOptions) -> Values {
        Values {
            options: options.clone(),
            globals: None,
            names: Arc::default(),
            row: Vec::new(),
            asked: HashMap::new(),
            text: Vec::new(),
        }
    }

    /// Of a driver, with options of its own.
    pub fn of_driver(options: &TemplateOptions, globals: &TemplateOptions) -> Values {
        Values { globals: Some(globals.clone()), ..Values::new(options) }
    }

    fn getter(&self, name: &str) -> Getter {
        Getter::of(name, &self.options, self.globals.as_ref().unwrap_or(&self.options))
    }

    /// Before @version 4.0 all values were texts.
    fn is_typed(&self) -> bool {
        self.options.version >= (4, 0)
    }

    /// Writes the values that go with each message.
    pub fn row(&mut self, msg: Msg<'_>, names: &Arc<Names>, cx: &mut RenderContext, out: &mut Vec<u8>) {
        if !Arc::ptr_eq(names, &self.names) {
            self.row = names.list.iter().map(|name| self.getter(name)).collect();
            self.names = Arc::clone(names);
        }
        let typed = self.is_typed();
        for getter in &self.row {
            put(getter, msg, typed, cx, &mut self.text, out);
        }
    }

    /// Writes what value-pairs() finds, as a dictionary.
    pub fn pairs(&self, msg: Msg<'_>, pairs: &ValuePairs, cx: &mut RenderContext, out: &mut Vec<u8>) {
        let typed = self.is_typed();
        marshal::dict(out);
        pairs.each(msg, cx, |name, kind, bytes| {
            marshal::text(name, out);
            write(Some(Value { bytes, kind }), typed, out);
        });
        marshal::end(out);
    }

    /// Writes one that was asked for.
    pub fn value(&mut self, msg: Msg<'_>, name: &str, cx: &mut RenderContext, out: &mut Vec<u8>) {
        if !self.asked.contains_key(name) {
            if self.asked.len() >= ASKED_MAX {
                self.asked.clear();
            }
            self.asked.insert(name.into(), self.getter(name));
        }
        let typed = self.is_typed();
        match self.asked.get(name) {
            Some(getter) => put(getter, msg, typed, cx, &mut self.text, out),
            None => marshal::none(out),
        }
    }
}

#[inline]
fn put(
    getter: &Getter,
    msg: Msg<'_>,
    typed: bool,
    cx: &mut RenderContext,
    text: &mut Vec<u8>,
    out: &mut Vec<u8>,
) {
    let Msg { batch, record } = msg;
    match getter {
        Getter::Name(name) => write(batch.value(record, *name), typed, out),
        Getter::Unknown(name) => {
            let value = batch.names.known(name).and_then(|name| batch.value(record, name));
            write(value, typed, out);
        }
        Getter::Sdata(name) => {
            let known = batch.names.known(name).or_else(|| record::lookup(name));
            let changed = record.flags.has(Flags::SDATA_CHANGED)
                && known.is_some_and(|name| batch.overridden(record, name).is_some());
            let received =
                lookup(batch.bytes(record.sdata), name.as_bytes().get(PREFIX.len()..).unwrap_or(b""));
            match received {
                Some(value) if !changed => marshal::bytes(unescape(value, text), out),
                _ => write(known.and_then(|name| batch.value(record, name)), typed, out),
            }
        }
        Getter::Macro(template) => {
            text.clear();
            let kind = template.render_typed(msg, cx, text);
            write(Some(Value { bytes: text, kind }), typed, out);
        }
        Getter::Text(template, seqnum) => {
            text.clear();
            print(template, *seqnum, msg, cx, text);
            marshal::bytes(text, out);
        }
        Getter::Keys => keys(msg, out),
        Getter::Stamp => {
            let Stamp { secs, usec, offset } = record.stamp;
            marshal::tuple(3, out);
            [secs, i64::from(usec), i64::from(offset)].iter().for_each(|number| marshal::int(*number, out));
        }
        Getter::Nothing => marshal::none(out),
    }
}

/// Prints a template with the number that the class wants to see.
fn print(template: &Template, seqnum: Seqnum, msg: Msg<'_>, cx: &mut RenderContext, text: &mut Vec<u8>) {
    let before = (cx.seqnum, cx.number_all);
    match seqnum {
        Seqnum::OfMessage => {}
        Seqnum::Nothing => cx.seqnum = None,
        Seqnum::Given(number) => (cx.seqnum, cx.number_all) = (Some(number), true),
    }
    template.render(msg, cx, text);
    (cx.seqnum, cx.number_all) = before;
}

/// What is wrong with a text that a class says is a template.
pub fn judge(text: &str) -> Result<(), String> {
    let compiled = Template::compile(text, &TemplateOptions::default(), &NoScope);
    compiled.map(drop).map_err(|error| error.to_string())
}

/// A value in the form that is Python's; where its text is not the one Python would print, with the text.
#[inline]
fn write(value: Option<Value<'_>>, typed: bool, out: &mut Vec<u8>) {
    match value {
        None => marshal::none(out),
        Some(Value { bytes, kind: ValueType::String | ValueType::Json }) => marshal::bytes(bytes, out),
        Some(value) => write_other(value, typed, out),
    }
}

fn write_other(Value { bytes, kind }: Value<'_>, typed: bool, out: &mut Vec<u8>) {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let seconds = || std::str::from_utf8(datetime_seconds(bytes)).unwrap_or_default();
    let with_text = |kind: &str, out: &mut Vec<u8>| {
        marshal::tuple(3, out);
        marshal::text(kind, out);
        marshal::bytes(bytes, out);
    };
    match kind {
        ValueType::Bytes | ValueType::Protobuf => marshal::bytes(bytes, out),
        _ if !typed => marshal::bytes(bytes, out),
        ValueType::Null => marshal::ellipsis(out),
        ValueType::Int => match text.parse::<i64>() {
            Ok(value) if value.to_string() == text => marshal::int(value, out),
            Ok(value) => {
                with_text("i", out);
                marshal::int(value, out);
            }
            Err(_) => marshal::bytes(bytes, out),
        },
        ValueType::Double => match text.parse::<f64>() {
            Ok(value) => {
                with_text("d", out);
                marshal::float(value, out);
            }
            Err(_) => marshal::bytes(bytes, out),
        },
        ValueType::Boolean => match text {
            "true" | "false" => marshal::boolean(text == "true", out),
            _ => {
                with_text("b", out);
                marshal::boolean(matches!(text, "yes" | "on" | "1" | "True" | "t" | "T"), out);
            }
        },
        ValueType::DateTime => match seconds().parse::<f64>() {
            Ok(seconds) => {
                with_text("t", out);
                marshal::int((seconds * 1000.0).round() as i64, out);
            }
            Err(_) => marshal::bytes(bytes, out),
        },
        ValueType::List => {
            with_text("l", out);
            let (mut items, mut item, mut count) = (list::Items::of(bytes), Vec::new(), 0);
            let mut written = Vec::new();
            while items.next_into(&mut item) {
                marshal::bytes(&item, &mut written);
                count += 1;
            }
            marshal::list(count, out);
            out.extend_from_slice(&written);
        }
        ValueType::String | ValueType::Json => marshal::bytes(bytes, out),
    }
}

/// Names that classes set, as they are known in every batch.
#[derive(Default)]
pub struct Known(HashMap<Box<[u8]>, NameId>);

/// Names remembered; a table that is full starts anew.
const KNOWN_MAX: usize = 1 << 10;

impl Known {
    pub fn id(&mut self, batch: &mut Batch, name: &[u8]) -> Option<NameId> {
        if let Some(id) = self.0.get(name) {
            return Some(*id);
        }
        let text = std::str::from_utf8(name).ok()?;
        let Some(id) = record::lookup(text) else { return batch.names.id(b"", name) };
        if self.0.len() >= KNOWN_MAX {
            self.0.clear();
        }
        self.0.insert(name.into(), id);
        Some(id)
    }
}

/// Reads a value that a class has set, and gives it on as messages have it.
pub fn taken(answer: &mut Reader<'_>, give: impl FnOnce(&[u8], ValueType)) -> Result<(), Malformed> {
    match answer.item()? {
        Item::Text(text) | Item::Bytes(text) => give(text, ValueType::String),
        Item::Int(value) => give(value.to_string().as_bytes(), ValueType::Int),
        // As syslog-ng prints what a class sets.
        Item::Float(value) => give(format!("{value:.6}").as_bytes(), ValueType::Double),
        Item::Bool(value) => give(if value { b"true" } else { b"false" }, ValueType::Boolean),
        Item::None | Item::Ellipsis => give(b"", ValueType::Null),
        Item::List(count) => {
            let (mut items, mut first) = (Vec::new(), true);
            for _ in 0..count {
                list::push(answer.text()?, &mut first, &mut items);
            }
            give(&items, ValueType::List);
        }
        Item::Tuple(3) if answer.text()? == b"t" => {
            let text = answer.text()?;
            answer.item()?;
            give(text, ValueType::DateTime);
        }
        _ => return Err(Malformed),
    }
    Ok(())
}

fn number(answer: &mut Reader<'_>) -> Result<i64, Malformed> {
    match answer.item()? {
        Item::Int(value) => Ok(value),
        _ => Err(Malformed),
    }
}

/// Reads facility and severity, the time stamp, or the sender's address.
pub fn note(batch: &mut Batch, index: usize, what: i64, answer: &mut Reader<'_>) -> Result<(), Malformed> {
    if what == PEER {
        let text = std::str::from_utf8(answer.text()?).map_err(|_| Malformed)?;
        return comes_from(batch, index, text.parse().map_err(|_| Malformed)?);
    }
    let record = batch.records.get_mut(index).ok_or(Malformed)?;
    match what {
        0 => record.pri = u16::try_from(number(answer)?).map_err(|_| Malformed)?,
        1 => {
            if answer.item()? != Item::Tuple(3) {
                return Err(Malformed);
            }
            let (secs, usec, offset) = (number(answer)?, number(answer)?, number(answer)?);
            record.stamp = Stamp {
                secs,
                usec: u32::try_from(usec).ok().filter(|usec| *usec < 1_000_000).ok_or(Malformed)?,
                offset: i32::try_from(offset).map_err(|_| Malformed)?,
            };
            record.stamp_text = Record::NO_TEXT;
        }
        _ => return Err(Malformed),
    }
    Ok(())
}

/// The names that a message has, each once.
fn keys(msg: Msg<'_>, out: &mut Vec<u8>) {
    let Msg { batch, record } = msg;
    let fields = batch.fields(record).into_iter().filter(|(_, value)| value.is_some()).map(|(name, _)| name);
    let context = batch.context(record).into_iter().flat_map(|context| {
        [NameId::HOST_FROM, NameId::SOURCE, NameId::TRANSPORT]
            .into_iter()
            .chain(context.values.iter().map(|(name, _)| *name))
    });
    let mut names: Vec<String> = fields
        .chain(batch.pairs(record).map(|(name, _)| name))
        .chain(context.filter(|name| batch.overridden(record, *name).is_none()))
        .map(|name| batch.name_of(name).to_owned())
        .collect();
    for param in params(batch.bytes(record.sdata)) {
        let [id, name] = [param.id, param.name].map(String::from_utf8_lossy);
        let full = if name.is_empty() { format!("{PREFIX}{id}") } else { format!("{PREFIX}{id}.{name}") };
        let known = batch.names.known(&full).or_else(|| record::lookup(&full));
        if known.is_none_or(|known| batch.overridden(record, known).is_none()) {
            names.push(full);
        }
    }
    marshal::list(names.len(), out);
    names.iter().for_each(|name| marshal::text(name, out));
}
