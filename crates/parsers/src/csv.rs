//! `csv-parser()`: columns separated by delimiters, with quotes and escapes.

mod build;
pub(crate) mod scan;

pub use build::{CSV_PARSER, build};
pub(crate) use scan::{Escape, Scanner, Take};

use crate::found::Found;
use crate::input::Input;
use crate::learned::Learned;
use crate::parse::{Parse, Writes};
use filter::{FilterContext, new_asker};
use record::{Batch, Demand, NameId, ValueType, datetime_seconds};
use scan::Field;
use std::sync::Arc;

#[derive(Clone)]
struct Csv {
    input: Input,
    rules: Arc<Rules>,
    columns: Vec<Column>,
    /// Columns from here on need not be looked at.
    until: usize,
    asker: u64,
}

struct Rules {
    scanner: Scanner,
    /// The last column takes the rest as it is.
    greedy: bool,
    strip: bool,
    drop_invalid: bool,
    null: Option<Box<[u8]>>,
    on_type_error: OnTypeError,
}

#[derive(Clone)]
struct Column {
    name: NameId,
    kind: ValueType,
    wanted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnTypeError {
    DropMessage,
    DropProperty,
    FallbackToString,
}

impl Csv {
    fn new(input: Input, rules: Rules, columns: Vec<Column>) -> Csv {
        let until = columns.len();
        Csv { input, rules: Arc::new(rules), columns, until, asker: new_asker() }
    }

    fn row(&self, text: &[u8], found: &mut Found) -> bool {
        let rules = &*self.rules;
        let mut at = 0;
        let mut marks = rules.scanner.marks();
        for (index, column) in self.columns.iter().enumerate() {
            if index == self.until {
                return true;
            }
            let last = index + 1 == self.columns.len();
            if last && rules.greedy {
                let field = Field::plain(at.min(text.len()), text.len());
                at = text.len() + 1;
                if !self.keep(column, text, field, 0, found) {
                    return false;
                }
                break;
            }
            if at >= text.len() {
                return !rules.drop_invalid;
            }
            let looked_at = column.wanted || column.kind != ValueType::String;
            if !looked_at && let Some(next) = rules.scanner.skip(text, at, &mut marks) {
                at = next;
                continue;
            }
            let mark = found.begin();
            let mut take =
                Take { wanted: column.wanted, strip: rules.strip, marks: &mut marks, out: found.out() };
            let (field, next) = rules.scanner.field(text, at, &mut take);
            at = next;
            if (column.wanted || column.kind != ValueType::String)
                && !self.keep(column, text, field, mark, found)
            {
                return false;
            }
        }
        !rules.drop_invalid || at >= text.len()
    }

    fn keep(&self, column: &Column, text: &[u8], field: Field, mark: usize, found: &mut Found) -> bool {
        let rules = &*self.rules;
        let made = field.made;
        let (mut start, mut end) = if made { (mark, found.begin()) } else { (field.start, field.end) };
        let source: &[u8] = if made { found.out() } else { text };
        let mut value = source.get(start..end).unwrap_or_default();
        if rules.strip {
            // Of a quoted field the blanks behind the quote are gone already, and others belong to it.
            let front = if field.quoted { value } else { value.trim_ascii_start() };
            start += value.len() - front.len();
            value = front.trim_ascii_end();
            end = start + value.len();
        }
        if rules.null.as_deref() == Some(value) {
            end = start;
            value = b"";
        }
        let mut kind = column.kind;
        if kind != ValueType::String && !is_of_type(value, kind) {
            match rules.on_type_error {
                OnTypeError::DropMessage => return false,
                OnTypeError::DropProperty => return true,
                OnTypeError::FallbackToString => kind = ValueType::String,
            }
        }
        if !column.wanted {
            return true;
        }
        match made {
            true => found.made_part(column.name, start, end, kind),
            false => found.part(column.name, start, end, kind),
        }
        true
    }
}

/// Whether a text can be cast to a type.
fn is_of_type(value: &[u8], kind: ValueType) -> bool {
    let text = std::str::from_utf8(value).unwrap_or_default();
    match kind {
        ValueType::Int => text.parse::<i64>().is_ok(),
        ValueType::Double => text.parse::<f64>().is_ok(),
        ValueType::Boolean => matches!(value.first(), Some(b'T' | b't' | b'1' | b'F' | b'f' | b'0')),
        ValueType::DateTime => {
            let text = std::str::from_utf8(datetime_seconds(value)).unwrap_or_default();
            text.bytes().all(|b| b.is_ascii_digit() || b == b'.') && text.parse::<f64>().is_ok()
        }
        _ => true,
    }
}

impl Parse for Csv {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut found = cx.work.take_state(self.asker, Found::default);
        self.input.each(batch, selection, cx, &mut found, &mut Learned::default(), |text, found, _| {
            self.row(text, found)
        });
        cx.work.keep_state(self.asker, found);
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        Writes::names(self.columns.iter().map(|c| c.name).collect())
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        if demand.everything {
            return None;
        }
        let mut narrow = self.clone();
        for column in &mut narrow.columns {
            column.wanted = demand.names.contains(&column.name)
                || column.name.0 >= NameId::HOST.0 && column.name.0 <= NameId::FILE_NAME.0
                || demand.sdata && column.name.is_sdata();
        }
        let strict = self.rules.on_type_error == OnTypeError::DropMessage;
        let needed = |c: &Column| c.wanted || strict && c.kind != ValueType::String;
        if !self.rules.drop_invalid {
            narrow.until = narrow.columns.iter().rposition(needed).map_or(0, |last| last + 1);
        }
        Some(Arc::new(narrow))
    }
}

#[cfg(test)]
mod tests;
