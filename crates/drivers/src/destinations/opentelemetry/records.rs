//! Messages made into records on the worker, as they wait and leave.

use delivery::writer::{Columns, Parts};
use engine::{Chunk, Form};
use grpc::otlp::{self, PairWriter, RecordWriter, Signal};
use parking_lot::Mutex;
use record::{Batch, Demand, NameId};
use std::sync::Arc;
use template::{RenderContext, Template};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Log records, and what came over the same protocol.
    Records,
    /// All name-value pairs.
    Pairs,
}

pub struct Records {
    kind: Kind,
    headers: Vec<Arc<Template>>,
    columns: Columns,
    records: RecordWriter,
    /// Buffers, one for each worker that is here at the same time.
    spare: Mutex<Vec<Buffers>>,
}

#[derive(Default)]
struct Buffers {
    pairs: PairWriter,
    record: Vec<u8>,
    key: Vec<u8>,
}

/// What waits from before there were records is the body of one.
const RECORDS: Form = Form {
    name: "otlp records",
    bare: |message| otlp::text_of(flight::opened(message).1),
    put: |out, text| {
        let (mut key, mut record) = (Vec::new(), Vec::new());
        flight::enclose(&mut key, &[Signal::Logs.letter()], b"");
        otlp::put_text(&mut record, text);
        flight::enclose(out, &key, &record);
    },
    again: Form::whole,
    shows_bare: false,
};

impl Records {
    pub fn new(kind: Kind, headers: Vec<Arc<Template>>) -> Records {
        let (columns, spare) = Default::default();
        Records { kind, headers, columns, records: RecordWriter::new(), spare }
    }
}

impl Parts for Records {
    fn form(&self) -> Form {
        RECORDS
    }

    fn are_keys(&self) -> bool {
        true
    }

    fn reads(&self, demand: &mut Demand) {
        // Which names there are below `.otel.`, and which pairs, only the message knows.
        (demand.everything, demand.stamp, demand.pri) = (true, true, true);
        demand.name(NameId::MESSAGE);
        if self.kind == Kind::Pairs {
            (demand.sdata, demand.tags) = (true, true);
            (NameId::HOST.0..=NameId::FILE_NAME.0).for_each(|n| demand.name(NameId(n)));
        }
        self.headers.iter().for_each(|template| template.reads(demand));
    }

    fn enclose(
        &self,
        (batch, selection): (&Batch, &[u32]),
        _texts: (&[u8], &[u32]),
        render: &mut RenderContext,
        chunk: &mut Chunk,
    ) {
        let mut room = self.spare.lock().pop().unwrap_or_default();
        let headers = self.columns.fill(&self.headers, (batch, selection), render);
        for (at, index) in selection.iter().enumerate() {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            room.record.clear();
            let signal = match self.kind {
                Kind::Records => self.records.put(&mut room.record, batch, record),
                Kind::Pairs => {
                    room.pairs.put(&mut room.record, batch, record);
                    Signal::Logs
                }
            };
            room.key.clear();
            flight::enclose(&mut room.key, &[signal.letter()], b"");
            headers.at(at).for_each(|text| flight::enclose(&mut room.key, text, b""));
            flight::enclose(&mut chunk.bytes, &room.key, &room.record);
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        self.columns.take_back(headers);
        self.spare.lock().push(room);
    }
}
