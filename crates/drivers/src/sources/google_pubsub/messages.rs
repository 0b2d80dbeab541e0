//! What a subscription brings as messages of a batch, with what the log paths read beside their data.

use engine::program::Program;
use engine::source::Source;
use grpc::pubsub::Received;
use record::{Batch, NameId, Record, ValueType};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

/// Different names of attributes that are remembered; publishers may make up any number.
const NAMES_MAX: usize = 1024;

/// The names of what is known of every message, where something reads it.
#[derive(Clone, Copy, Default)]
struct Names {
    id: Option<NameId>,
    timestamp: Option<NameId>,
    ordering_key: Option<NameId>,
    delivery_attempt: Option<NameId>,
}

pub struct Messages {
    /// In front of the names of values; `None`: there are none.
    prefix: Option<String>,
    /// In front of those of attributes.
    attribute_prefix: String,
    encoding: Option<conf_schema::Encoding>,
    /// The program that the names were looked up for.
    program: Option<Arc<Program>>,
    names: Names,
    attributes: HashMap<Vec<u8>, Option<NameId>>,
    reads_attributes: bool,
    everything: bool,
    text: String,
}

impl Messages {
    pub fn new(prefix: Option<&str>, encoding: Option<conf_schema::Encoding>) -> Messages {
        Messages {
            prefix: prefix.map(str::to_owned),
            attribute_prefix: format!("{}attributes.", prefix.unwrap_or_default()),
            encoding,
            program: None,
            names: Names::default(),
            attributes: HashMap::new(),
            reads_attributes: false,
            everything: false,
            text: String::new(),
        }
    }

    /// Before a batch: a reload may have brought log paths that read other values.
    pub fn begin_batch(&mut self, source: &Source) {
        let Some(prefix) = &self.prefix else { return };
        let settings = source.settings();
        if self.program.as_ref().is_some_and(|known| Arc::ptr_eq(known, &settings.program)) {
            return;
        }
        let demand = &settings.program.demand;
        let wanted = |name: &str| demand.wanted(&format!("{prefix}{name}"));
        self.names = Names {
            id: wanted("id"),
            timestamp: wanted("timestamp"),
            ordering_key: wanted("ordering_key"),
            delivery_attempt: wanted("delivery_attempt"),
        };
        let is_attribute = |id: &NameId| record::name_of(*id).starts_with(&self.attribute_prefix);
        self.reads_attributes = demand.everything || demand.names.iter().any(is_attribute);
        self.everything = demand.everything;
        self.attributes.clear();
        self.program = Some(Arc::clone(&settings.program));
    }

    /// Adds a message.
    pub fn append(&mut self, batch: &mut Batch, received: &Received<'_>) {
        let span = match self.encoding {
            None => batch.append(received.data),
            Some(encoding) => batch.append(encoding.decode(received.data).as_bytes()),
        };
        let index = batch.records.len();
        batch.records.push(Record::new(span));
        let Names { id, timestamp, ordering_key, delivery_attempt } = self.names;
        for (name, text) in [(id, received.id), (ordering_key, received.ordering_key)] {
            if let Some(name) = name
                && !text.is_empty()
            {
                batch.set(index, name, text, ValueType::String);
            }
        }
        // A subscription without a limit of attempts does not count them.
        let attempt = i64::try_from(received.attempt).ok().filter(|attempt| *attempt > 0);
        for (name, number) in [(timestamp, received.published_ms), (delivery_attempt, attempt)] {
            if let (Some(name), Some(number)) = (name, number) {
                self.text.clear();
                // Writing to a text cannot fail.
                let _ = write!(self.text, "{number}");
                batch.set(index, name, self.text.as_bytes(), ValueType::Int);
            }
        }
        if self.reads_attributes {
            for (name, value) in received.attributes() {
                if let Some(id) = self.attribute(batch, name) {
                    batch.set(index, id, value, ValueType::String);
                }
            }
        }
    }

    fn attribute(&mut self, batch: &mut Batch, name: &[u8]) -> Option<NameId> {
        let known = match self.attributes.get(name) {
            Some(known) => *known,
            None => {
                let full = format!("{}{}", self.attribute_prefix, String::from_utf8_lossy(name));
                let demand = self.program.as_ref().map(|program| &program.demand);
                let id = record::lookup(&full).filter(|id| demand.is_some_and(|d| d.wants(*id)));
                if self.attributes.len() < NAMES_MAX {
                    self.attributes.insert(name.to_vec(), id);
                }
                id
            }
        };
        // A name that no configuration knows is one of the batch.
        match self.everything && known.is_none() {
            true => batch.names.id(self.attribute_prefix.as_bytes(), name),
            false => known,
        }
    }
}
