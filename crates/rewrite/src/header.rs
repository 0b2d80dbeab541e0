//! `set-pri()`, `set-severity()`, `set-facility()`.

use filter::FilterContext;
use record::{Batch, Demand, pri};
use template::{Msg, Template};

pub struct Header {
    part: Part,
    value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Pri,
    Severity,
    Facility,
}

enum Value {
    Known(u16),
    /// A literal that means nothing: messages stay as they are.
    Nothing,
    Made(Box<Template>),
}

impl Part {
    /// What a text means; `None` leaves the message as it is.
    pub fn read(self, text: &[u8]) -> Option<u16> {
        let text = std::str::from_utf8(text).ok()?;
        let number = || text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u16>().ok()).flatten();
        // Names are short; anything longer is none.
        let mut lower = [0; 16];
        let name = match lower.get_mut(..text.len()) {
            Some(lower) => {
                lower.copy_from_slice(text.as_bytes());
                lower.make_ascii_lowercase();
                std::str::from_utf8(lower).unwrap_or_default()
            }
            None => "",
        };
        match self {
            Part::Pri => number().filter(|n| *n <= 1023),
            Part::Severity => {
                number().filter(|n| *n <= 7).or_else(|| pri::severity_loose(name).map(u16::from))
            }
            Part::Facility => number().filter(|n| *n <= 127).or_else(|| pri::facility(name).map(u16::from)),
        }
    }

    fn put(self, value: u16, pri: u16) -> u16 {
        match self {
            Part::Pri => value,
            Part::Severity => (pri & !7) | value,
            Part::Facility => (value << 3) | (pri & 7),
        }
    }
}

impl Header {
    pub fn new(part: Part, template: Template) -> Header {
        let value = match template.literal() {
            Some(text) => part.read(text).map_or(Value::Nothing, Value::Known),
            None => Value::Made(Box::new(template)),
        };
        Header { part, value }
    }

    pub fn does_nothing(&self) -> bool {
        matches!(self.value, Value::Nothing)
    }

    pub fn apply(&self, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        let mut text = cx.work.text();
        for index in selection {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            let value = match &self.value {
                Value::Known(value) => Some(*value),
                Value::Nothing => None,
                Value::Made(template) => {
                    text.clear();
                    template.render(Msg { batch, record }, &mut cx.render, &mut text);
                    self.part.read(&text)
                }
            };
            if let (Some(value), Some(record)) = (value, batch.records.get_mut(*index as usize)) {
                record.pri = self.part.put(value, record.pri);
            }
        }
        cx.work.keep_text(text);
    }

    pub fn reads(&self, demand: &mut Demand) {
        // Half of PRI stays.
        demand.pri |= self.part != Part::Pri;
        if let Value::Made(template) = &self.value {
            template.reads(demand);
        }
    }
}
