//! What a class has posted as messages of a batch: texts that are parsed as the source's options say, and
//! what the class has set.

use python::marshal::{self, Item, Malformed, Reader};
use python::{Asked, Posted};
use record::{Batch, Context, NameId, Record, Span, Stamp, ValueType};
use std::sync::Arc;
use template::python::{Known, Values, note, taken};
use template::{Identity, Msg, RenderContext, TemplateOptions};
use wire::{ParseFlags, SyslogOptions, SyslogParser};

/// What stands for the text to be parsed; `syslogng.message` has the same number.
const RAW: i64 = 2;

/// How messages of a source are made.
pub struct Making {
    pub syslog: SyslogOptions,
    /// Of texts that are parsed.
    pub encoding: Option<conf_schema::Encoding>,
    pub context: Arc<Context>,
    /// HOST of messages that have none.
    pub host: Arc<str>,
    /// Templates print so, before messages are posted.
    pub templates: TemplateOptions,
    pub identity: Identity,
}

impl Making {
    /// What is other where a reload has changed it.
    pub fn described(&self) -> String {
        let SyslogOptions { recv_zone, check_hostname, check_program, keep_timestamp, .. } = &self.syslog;
        let encoding = self.encoding.map(conf_schema::Encoding::name);
        format!(
            "{} {:?} {recv_zone:?} {check_hostname} {check_program} {keep_timestamp} {encoding:?} {:?}",
            self.host, self.syslog, self.templates
        )
    }
}

/// Makes messages. One for each process.
pub struct Maker {
    making: Arc<Making>,
    known: Known,
    parser: SyslogParser,
    values: Values,
    render: RenderContext,
}

impl Maker {
    pub fn new(making: Arc<Making>) -> Maker {
        Maker {
            known: Known::default(),
            parser: SyslogParser::new(making.syslog.clone()),
            values: Values::new(&making.templates),
            render: RenderContext::new(making.identity.clone()),
            making,
        }
    }

    /// Appends the messages; those of which HOST was not set have that of this machine.
    pub fn append(
        &mut self,
        batch: &mut Batch,
        posted: &mut Posted<'_>,
        now: Stamp,
    ) -> Result<(), Malformed> {
        self.begin(batch, now);
        let host = Arc::clone(&self.making.host);
        for _ in 0..posted.count {
            let index = self.message(batch, &mut posted.messages, now)?;
            if batch.records.get(index).is_some_and(|record| record.host.is_empty()) {
                batch.set(index, NameId::HOST, host.as_bytes(), ValueType::String);
            }
        }
        if posted.messages.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    /// What a message that is not posted yet has under a name, in the format of `marshal`.
    pub fn answer(
        &mut self,
        batch: &mut Batch,
        asked: &mut Asked<'_>,
        now: Stamp,
    ) -> Result<Vec<u8>, Malformed> {
        self.begin(batch, now);
        let index = self.message(batch, &mut asked.message, now)?;
        let mut out = Vec::new();
        self.render.begin_batch(now);
        match batch.records.get(index) {
            Some(record) => self.values.value(Msg { batch, record }, &asked.name, &mut self.render, &mut out),
            None => marshal::none(&mut out),
        }
        Ok(out)
    }

    fn begin(&self, batch: &mut Batch, now: Stamp) {
        batch.contexts.push(Arc::clone(&self.making.context));
        batch.received = now;
    }

    /// Appends a message from its dictionary: its number.
    fn message(
        &mut self,
        batch: &mut Batch,
        reader: &mut Reader<'_>,
        now: Stamp,
    ) -> Result<usize, Malformed> {
        let Item::Dict = reader.item()? else { return Err(Malformed) };
        let index = batch.records.len();
        let mut record = Record::new(Span::EMPTY);
        (record.stamp, record.pri, record.origin) = (now, self.making.syslog.default_pri, index as u32);
        batch.records.push(record);
        loop {
            match reader.item()? {
                Item::End => break,
                Item::Text(name) => {
                    let id = self.known.id(batch, name);
                    taken(reader, |bytes, kind| {
                        if let Some(id) = id {
                            batch.set(index, id, bytes, kind);
                        }
                    })?;
                }
                // It comes before what was set.
                Item::Int(RAW) => self.parse(batch, index, reader.text()?),
                Item::Int(what) => note(batch, index, what, reader)?,
                _ => return Err(Malformed),
            }
        }
        if !self.making.syslog.keep_timestamp
            && let Some(record) = batch.records.get_mut(index)
        {
            (record.stamp, record.stamp_text) = (now, Record::NO_TEXT);
        }
        Ok(index)
    }

    fn parse(&mut self, batch: &mut Batch, index: usize, text: &[u8]) {
        let frame = match self.making.encoding {
            Some(encoding) => batch.append(encoding.decode_first(text).as_bytes()),
            None => batch.append(text),
        };
        if let Some(record) = batch.records.get_mut(index) {
            let origin = record.origin;
            *record = Record::new(frame);
            record.origin = origin;
            self.parser.parse_batch(batch, index);
        }
    }
}

/// `self.flags`, with the names that syslog-ng gives them.
pub fn written(flags: &ParseFlags) -> Vec<u8> {
    let named = [
        ("parse", !flags.no_parse),
        ("check-hostname", flags.check_hostname),
        ("syslog-protocol", flags.syslog_protocol),
        ("assume-utf8", flags.assume_utf8),
        ("validate-utf8", flags.validate_utf8),
        ("sanitize-utf8", flags.sanitize_utf8),
        ("multi-line", !flags.no_multi_line),
        ("store-legacy-msghdr", flags.store_legacy_msghdr),
        ("store-raw-message", flags.store_raw_message),
        ("expect-hostname", flags.expect_hostname),
        ("guess-timezone", flags.guess_timezone),
        ("header", !flags.no_header),
        ("rfc3164-fallback", !flags.no_rfc3164_fallback),
    ];
    let mut out = Vec::new();
    marshal::dict(&mut out);
    for (name, is_on) in named {
        marshal::text(name, &mut out);
        marshal::boolean(is_on, &mut out);
    }
    marshal::end(&mut out);
    out
}
