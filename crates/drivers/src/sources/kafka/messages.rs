//! Records as messages of a batch, with what the log paths read beside their values.

use super::PREFIX;
use engine::program::Program;
use engine::source::Source;
use kafka::{RecordAt, TopicPartition, headers};
use record::{Batch, NameId, Record, Span, ValueType};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

/// Different names of headers that are remembered; producers may make up any number.
const NAMES_MAX: usize = 1024;

/// The names of what is known of every message, where something reads it.
#[derive(Clone, Copy, Default)]
struct Names {
    topic: Option<NameId>,
    partition: Option<NameId>,
    offset: Option<NameId>,
    key: Option<NameId>,
    timestamp: Option<NameId>,
}

pub struct Messages {
    metadata: bool,
    encoding: Option<conf_schema::Encoding>,
    /// The program that the names were looked up for.
    program: Option<Arc<Program>>,
    names: Names,
    headers: HashMap<Vec<u8>, Option<NameId>>,
    /// Some header is read.
    reads_headers: bool,
    reads_any: bool,
    everything: bool,
    text: String,
    /// The headers in hand.
    of_headers: Vec<u8>,
}

impl Messages {
    pub fn new(metadata: bool, encoding: Option<conf_schema::Encoding>) -> Messages {
        Messages {
            metadata,
            encoding,
            program: None,
            names: Names::default(),
            headers: HashMap::new(),
            reads_headers: false,
            reads_any: false,
            everything: false,
            text: String::new(),
            of_headers: Vec::new(),
        }
    }

    /// Before a batch: a reload may have brought log paths that read other values.
    pub fn begin_batch(&mut self, source: &Source) {
        let settings = source.settings();
        if !self.metadata || self.program.as_ref().is_some_and(|known| Arc::ptr_eq(known, &settings.program))
        {
            return;
        }
        let demand = &settings.program.demand;
        let wanted = |name: &str| demand.wanted(&format!("{PREFIX}{name}"));
        self.names = Names {
            topic: wanted("topic"),
            partition: wanted("partition"),
            offset: wanted("offset"),
            key: wanted("key"),
            timestamp: wanted("timestamp"),
        };
        let of_header = |id: &NameId| record::name_of(*id).starts_with(".kafka.headers.");
        self.reads_headers = demand.everything || demand.names.iter().any(of_header);
        let Names { topic, partition, offset, key, timestamp } = self.names;
        self.reads_any =
            self.reads_headers || [topic, partition, offset, key, timestamp].iter().any(Option::is_some);
        self.everything = demand.everything;
        self.headers.clear();
        self.program = Some(Arc::clone(&settings.program));
    }

    /// Adds the records that were taken together: they stand in the text, and values are spans of them.
    pub fn append(&mut self, batch: &mut Batch, place: &TopicPartition, records: &[RecordAt]) {
        let first = batch.records.len();
        let span = |at: &std::ops::Range<usize>| Span::between(at.start, at.end);
        batch.records.extend(records.iter().map(|record| {
            // A record without a value is a message without a text.
            Record::new(record.value.as_ref().map_or(Span::EMPTY, span))
        }));
        if let Some(encoding) = self.encoding {
            decode(batch, first, encoding);
        }
        if !self.reads_any {
            return;
        }
        let topic = self.names.topic.map(|id| (id, batch.append(&place.topic)));
        let number = place.partition.to_string();
        let partition = self.names.partition.map(|id| (id, batch.append(number.as_bytes())));
        for (index, record) in (first..).zip(records) {
            if let Some((id, span)) = topic {
                batch.set_span(index, id, span, ValueType::String);
            }
            if let Some((id, span)) = partition {
                batch.set_span(index, id, span, ValueType::Int);
            }
            for (id, number) in [(self.names.offset, record.offset), (self.names.timestamp, record.time_ms)] {
                if let Some(id) = id {
                    self.text.clear();
                    // Writing to a text cannot fail.
                    let _ = write!(self.text, "{number}");
                    batch.set(index, id, self.text.as_bytes(), ValueType::Int);
                }
            }
            if let (Some(id), Some(key)) = (self.names.key, &record.key) {
                batch.set_span(index, id, span(key), ValueType::String);
            }
            if self.reads_headers {
                self.set_headers(batch, index, record.headers.clone());
            }
        }
    }

    fn set_headers(&mut self, batch: &mut Batch, index: usize, place: std::ops::Range<usize>) {
        let mut bytes = std::mem::take(&mut self.of_headers);
        bytes.clear();
        bytes.extend_from_slice(batch.text.get(place).unwrap_or_default());
        for (name, value) in headers(&bytes) {
            if let Some(id) = self.header(batch, name) {
                batch.set(index, id, value, ValueType::String);
            }
        }
        self.of_headers = bytes;
    }

    fn header(&mut self, batch: &mut Batch, name: &[u8]) -> Option<NameId> {
        let known = match self.headers.get(name) {
            Some(known) => *known,
            None => {
                let full = format!("{PREFIX}headers.{}", String::from_utf8_lossy(name));
                let demand = self.program.as_ref().map(|program| &program.demand);
                let id = record::lookup(&full)
                    .filter(|id| demand.is_some_and(|d| d.everything || d.names.contains(id)));
                if self.headers.len() < NAMES_MAX {
                    self.headers.insert(name.to_vec(), id);
                }
                id
            }
        };
        // A name that no configuration knows is one of the batch.
        match self.everything && known.is_none() {
            true => batch.names.id(b".kafka.headers.", name),
            false => known,
        }
    }
}

/// Turns the values into UTF-8.
fn decode(batch: &mut Batch, first: usize, encoding: conf_schema::Encoding) {
    for index in first..batch.records.len() {
        let Some(frame) = batch.records.get(index).map(|record| record.frame) else { return };
        let text = encoding.decode(batch.bytes(frame)).into_owned();
        let span = batch.append(text.as_bytes());
        if let Some(record) = batch.records.get_mut(index) {
            record.frame = span;
        }
    }
}
