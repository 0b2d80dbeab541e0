//! The messages of a batch as insert commands: one for those that go to the same collection.

use crate::document::{Writer, fields};
use crate::target::{Concern, Nodes, Target};
use flight::{Detail, Part};
use mongodb::bson::{Bson, RawBsonRef, RawDocument};

/// Of a command; the servers take 16 MiB.
const COMMAND_BYTES_MAX: usize = 12 << 20;
/// Of a command without documents, mostly.
const COMMAND_BYTES: usize = 512;
/// Documents of a command, which is the most that the servers take.
const DOCUMENTS_MAX: usize = 100_000;
/// Of a document, as the servers have it.
const DOCUMENT_BYTES_MAX: usize = 16 << 20;

/// What becomes of a batch: commands in its order.
pub struct Inserts(pub Vec<Insert>);

pub struct Insert {
    pub documents: usize,
    /// The command; `None`: it is one document that is too large.
    pub command: Option<Vec<u8>>,
}

/// Messages have two fields in front, the id of the document and its values, and as their text the name
/// of the collection.
pub fn load(target: &Target, part: &Part<'_>) -> Inserts {
    let mut done = Vec::new();
    let mut open: Option<(Command, &[u8])> = None;
    for message in part.messages {
        let mut all = flight::fields(message);
        let parts = (all.next(), all.next(), all.next());
        // What waits from before it was for MongoDB is a text.
        let (id, values, collection) = match parts {
            (Some(id), Some(values), Some(collection)) => (id, values, collection),
            _ => (&[][..], &[][..], &[][..]),
        };
        match &open {
            Some((command, name))
                if *name == collection
                    && command.documents < DOCUMENTS_MAX
                    && command.bytes.len() + values.len() < COMMAND_BYTES_MAX => {}
            _ => {
                done.extend(open.take().map(|(command, _)| command.end()));
                // Mostly there is one, and it has all of the batch. In it, a document is hardly longer than
                // the message.
                let room = if done.is_empty() { part.bytes + part.messages.len() * 8 } else { 0 };
                let room = room.min(COMMAND_BYTES_MAX) + COMMAND_BYTES;
                open = Some((Command::begin(target, collection, room), collection));
            }
        }
        if let Some((command, _)) = &mut open {
            command.add(id, values);
        }
    }
    done.extend(open.map(|(command, _)| command.end()));
    Inserts(done)
}

/// Collection and `_id` of the document at a place of a batch.
pub fn whereabouts(inserts: &[Insert], mut at: usize) -> Vec<(&'static str, Detail)> {
    for insert in inserts {
        if at < insert.documents {
            return insert.command.as_deref().and_then(|command| named(command, at)).unwrap_or_default();
        }
        at -= insert.documents;
    }
    Vec::new()
}

fn named(command: &[u8], at: usize) -> Option<Vec<(&'static str, Detail)>> {
    let command = RawDocument::from_bytes(command).ok()?;
    let mut place = vec![("collection", command.get_str("insert").ok()?.into())];
    let document = command.get_array("documents").ok()?.into_iter().nth(at)?.ok()?;
    let id = document.as_document()?.get("_id").ok()??;
    let id = match id {
        RawBsonRef::ObjectId(id) => id.to_hex(),
        RawBsonRef::String(text) => text.to_owned(),
        other => Bson::try_from(other).ok()?.to_string(),
    };
    place.push(("_id", id.into()));
    Some(place)
}

struct Command {
    bytes: Vec<u8>,
    whole: usize,
    array: usize,
    documents: usize,
    largest: usize,
}

impl Command {
    fn begin(target: &Target, collection: &[u8], room: usize) -> Command {
        let mut bytes = Vec::with_capacity(room);
        let mut to = Writer(&mut bytes);
        let whole = to.begin();
        to.text(b"insert", collection);
        to.boolean("ordered", !target.unordered);
        if target.bypass_validation {
            to.boolean("bypassDocumentValidation", true);
        }
        concern(&mut to, &target.concern);
        let array = to.begin_array("documents");
        Command { bytes, whole, array, documents: 0, largest: 0 }
    }

    fn add(&mut self, id: &[u8], values: &[u8]) {
        let mut to = Writer(&mut self.bytes);
        let begin = to.begin_item(self.documents);
        fields(&mut to, id, values);
        to.end(begin);
        self.documents += 1;
        self.largest = self.largest.max(self.bytes.len() - begin);
    }

    fn end(mut self) -> Insert {
        let mut to = Writer(&mut self.bytes);
        to.end(self.array);
        to.end(self.whole);
        let fits = self.documents > 1 || self.largest <= DOCUMENT_BYTES_MAX;
        Insert { documents: self.documents, command: fits.then_some(self.bytes) }
    }
}

fn concern(to: &mut Writer<'_>, concern: &Concern) {
    if *concern == Concern::default() {
        return;
    }
    let begin = to.begin_document(b"writeConcern");
    match &concern.nodes {
        Some(Nodes::Count(count)) => to.int("w", *count as i32),
        Some(Nodes::Named(name)) => to.text(b"w", name.as_bytes()),
        None => {}
    }
    if let Some(journal) = concern.journal {
        to.boolean("j", journal);
    }
    if let Some(timeout) = concern.timeout {
        to.int("wtimeout", timeout.as_millis().min(i32::MAX as u128) as i32);
    }
    to.end(begin);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Deployment;
    use mongodb::bson::{Document, RawDocumentBuf, doc};
    use record::ValueType;

    fn message(id: u8, collection: &str, name: &str) -> Vec<u8> {
        let (mut out, mut values) = (Vec::new(), Vec::new());
        flight::put_pair(&mut values, name, ValueType::Int, b"1");
        flight::begin_fields(&mut out, 2);
        flight::put_field(&mut out, &[id; 12]);
        flight::put_field(&mut out, &values);
        out.extend_from_slice(collection.as_bytes());
        out
    }

    #[test]
    fn a_batch_is_a_command_for_each_collection_in_a_row() {
        let place = Deployment::parse("mongodb://a/logs?wtimeoutMS=5").expect("good");
        let concern = place.concern();
        let target = Target { place, concern, unordered: false, bypass_validation: true };
        let messages = [message(1, "x", "a"), message(2, "x", "b"), message(3, "y", "c")];
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let part = Part { messages: &messages, bytes: 0, key: &[], number: None, numbers: &[] };
        let Inserts(all) = load(&target, &part);
        assert_eq!(all.iter().map(|insert| insert.documents).collect::<Vec<_>>(), [2, 1]);
        let is_at = |collection: &str, id: u8| {
            vec![("collection", Detail::from(collection)), ("_id", format!("{id:02x}").repeat(12).into())]
        };
        assert_eq!((whereabouts(&all, 1), whereabouts(&all, 2)), (is_at("x", 2), is_at("y", 3)));
        assert_eq!(whereabouts(&all, 3), []);
        let bytes = all[0].command.clone().expect("a command");
        let raw = RawDocumentBuf::from_bytes(bytes).expect("a document");
        let mut made = Document::try_from(raw.as_ref()).expect("whole");
        let documents = made.remove("documents").expect("documents");
        let rest = doc! {
            "insert": "x", "ordered": true, "bypassDocumentValidation": true, "writeConcern": { "wtimeout": 5 },
        };
        assert_eq!(made, rest);
        assert_eq!(documents.as_array().map(Vec::len), Some(2));
        assert_eq!(documents.as_array().unwrap()[1].as_document().unwrap().get_i64("b").ok(), Some(1));
    }

    /// The command of a batch is written into the room that it has from the beginning.
    #[test]
    fn a_command_does_not_grow() {
        const COUNT: usize = 500;
        let place = Deployment::parse("mongodb://a/logs").expect("good");
        let target =
            Target { place, concern: Concern::default(), unordered: false, bypass_validation: false };
        let (mut message, mut values) = (Vec::new(), Vec::new());
        flight::put_pair(&mut values, "m", ValueType::String, &[b'x'; 300]);
        flight::begin_fields(&mut message, 2);
        flight::put_field(&mut message, &[7; 12]);
        flight::put_field(&mut message, &values);
        message.extend_from_slice(b"logs");
        let (messages, bytes) = (vec![&message[..]; COUNT], message.len() * COUNT);
        let part = Part { messages: &messages, bytes, key: &[], number: None, numbers: &[] };
        let Inserts(all) = load(&target, &part);
        let command = all[0].command.as_ref().expect("a command");
        assert!(command.len() > 300 * COUNT);
        assert_eq!(command.capacity(), bytes + COUNT * 8 + COMMAND_BYTES);
    }
}
