//! Messages as they wait for a class: with everything that is known of them, as it may ask for any value.

use delivery::writer::Parts;
use engine::{Chunk, Form};
use flight::Part;
use parking_lot::Mutex;
use record::{Batch, Context, Demand, Packer, Record, Stamp, packed_message};
use std::sync::Arc;
use template::RenderContext;

/// Buffers, one for each worker that is here at the same time.
#[derive(Default)]
pub struct Packed(Mutex<Vec<Packer>>);

/// What waits from before it was for a class is a message of which only the text is known.
const PACKED: Form = Form {
    name: "messages",
    bare: |packed| packed_message(packed).unwrap_or(packed),
    put: put_text,
    again: Form::whole,
    shows_bare: false,
};

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    let mut batch = Batch::new(Vec::new(), Arc::new(Context::local("", "", "")), Stamp::now(0));
    let mut record = Record::new(batch.append(text));
    record.message = record.frame;
    record.stamp = batch.received;
    Packer::default().pack(&batch, &record, 0, out);
}

impl Parts for Packed {
    fn form(&self) -> Form {
        PACKED
    }

    fn are_keys(&self) -> bool {
        false
    }

    fn reads(&self, demand: &mut Demand) {
        template::python::reads(demand);
    }

    fn enclose(
        &self,
        (batch, selection): (&Batch, &[u32]),
        _texts: (&[u8], &[u32]),
        render: &mut RenderContext,
        chunk: &mut Chunk,
    ) {
        let mut packer = self.0.lock().pop().unwrap_or_default();
        let mut number = render.seqnum.unwrap_or_default();
        for index in selection {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            packer.pack(batch, record, number, &mut chunk.bytes);
            chunk.ends.push(chunk.bytes.len() as u32);
            number += 1;
        }
        self.0.lock().push(packer);
    }
}

/// A batch on its way to the thread that sends it.
pub struct Load {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

pub fn load(part: &Part<'_>) -> Load {
    let (mut bytes, mut ends) = (Vec::with_capacity(part.bytes), Vec::with_capacity(part.messages.len()));
    for message in part.messages {
        bytes.extend_from_slice(message);
        ends.push(bytes.len());
    }
    Load { bytes, ends }
}

impl Load {
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    pub fn message(&self, at: usize) -> &[u8] {
        let begin = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        let end = self.ends.get(at).copied().unwrap_or(begin);
        self.bytes.get(begin..end).unwrap_or_default()
    }
}
