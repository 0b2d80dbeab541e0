//! A parser with contexts, fed by hand with a clock of its own.

use crate::Parse;
use crate::testing::{context, parser};
use filter::FilterContext;
use record::{Batch, Context, NameId, Record, Span, Stamp, lookup};
use std::sync::Arc;

pub struct Fed {
    pub parser: Arc<dyn Parse>,
    cx: FilterContext,
    /// The present, in seconds.
    pub now: i64,
}

fn stamp(secs: i64) -> Stamp {
    Stamp { secs, usec: 0, offset: 0 }
}

impl Fed {
    pub fn new(text: &str) -> Fed {
        Fed::by(parser(text))
    }

    pub fn by(parser: Arc<dyn Parse>) -> Fed {
        Fed { parser, cx: context(), now: 1_000_000 }
    }

    /// One batch of `seconds program text`; what is selected afterwards, each as `text[x]`.
    pub fn feed(&mut self, messages: &[&str]) -> String {
        let peer = Arc::new(Context::local("s_test", "fromhost", "local+file"));
        let mut batch = Batch::new(b"before ".to_vec(), peer, stamp(self.now));
        for message in messages {
            let mut words = message.splitn(3, ' ');
            let mut record = Record::new(Span::EMPTY);
            record.stamp = stamp(words.next().and_then(|w| w.parse().ok()).unwrap_or(0));
            record.host = batch.append(b"host");
            record.program = batch.append(words.next().unwrap_or_default().as_bytes());
            record.message = batch.append(words.next().unwrap_or_default().as_bytes());
            record.origin = batch.records.len() as u32;
            batch.records.push(record);
        }
        let mut selection: Vec<u32> = (0..batch.records.len() as u32).collect();
        self.cx.begin_batch(stamp(self.now));
        self.parser.parse(&mut batch, &mut selection, &mut self.cx);
        // As a junction would do.
        let mut joined = selection.clone();
        joined.sort_by_key(|i| batch.rank(&batch.records[*i as usize]));
        assert_eq!(joined, selection, "the order of the selection is that of the ranks");
        let shown = selection.iter().map(|index| {
            let record = &batch.records[*index as usize];
            let text =
                |name| batch.value(record, name).map(|v| String::from_utf8_lossy(v.bytes).into_owned());
            let x = lookup("x").and_then(text).map(|x| format!("[{x}]"));
            text(NameId::MESSAGE).unwrap_or_default() + &x.unwrap_or_default()
        });
        shown.collect::<Vec<_>>().join("|")
    }

    /// The present goes on, and a second's tick comes.
    pub fn tick(&mut self, seconds: i64) -> String {
        self.now += seconds;
        self.feed(&[])
    }

    /// The parser of a reload, with the contexts of this one.
    pub fn reloaded(&self, text: &str) -> Fed {
        let again = parser(text).with_state(self.parser.state()).expect("a parser with contexts");
        Fed { now: self.now, ..Fed::by(again) }
    }
}
