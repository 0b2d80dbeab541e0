//! Topic, key and headers of each message, beside its text.

use delivery::writer::{PLAIN, Parts, TEXT};
use engine::{Chunk, Form};
use parking_lot::Mutex;
use record::{Batch, Demand};
use std::sync::Arc;
use template::{RenderContext, Template};

/// `topic()`, where it is a template.
pub struct TopicTemplate {
    pub template: Arc<Template>,
    /// `fallback-topic()`, for what is no name of a topic.
    pub fallback: String,
}

/// What is put beside each message.
pub struct RecordParts {
    topic: Option<TopicTemplate>,
    key: Option<Arc<Template>>,
    headers: Vec<(String, Arc<Template>)>,
    /// Buffers, one set for each worker that is here at the same time.
    spare: Mutex<Vec<Vec<Column>>>,
}

/// What waits from before there were parts has none.
const PARTED: Form = Form {
    name: "kafka parts",
    bare: |message| kafka::envelope::value(message).unwrap_or(message),
    put: |out, message| kafka::envelope::begin(out, b"", b"", message, 0),
    again: Form::whole,
    shows_bare: true,
};

/// The texts of a template, one for each message.
#[derive(Default)]
struct Column {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Column {
    fn fill(&mut self, template: &Template, (batch, selection): (&Batch, &[u32]), cx: &mut RenderContext) {
        self.bytes.clear();
        self.ends.clear();
        template.render_selection(batch, selection, cx, &mut self.bytes, &mut self.ends);
    }

    fn at(&self, at: usize) -> &[u8] {
        text((&self.bytes, &self.ends), at)
    }
}

fn text<'a>((bytes, ends): (&'a [u8], &[u32]), at: usize) -> &'a [u8] {
    let begin = at.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| *end as usize);
    let end = ends.get(at).map_or(begin, |end| *end as usize);
    bytes.get(begin..end).unwrap_or_default()
}

impl RecordParts {
    /// What waits from before there were parts, or when there are none any more. Texts were noted as lines
    /// once.
    pub const KIN: &'static [Form] = &[TEXT, PLAIN, PARTED];

    pub fn new(
        topic: Option<TopicTemplate>,
        key: Option<Arc<Template>>,
        headers: Vec<(String, Arc<Template>)>,
    ) -> RecordParts {
        RecordParts { topic, key, headers, spare: Mutex::default() }
    }

    /// Whether messages have anything beside their texts.
    pub fn is_needed(&self) -> bool {
        self.topic.is_some() || self.key.is_some() || !self.headers.is_empty()
    }

    fn templates(&self) -> impl Iterator<Item = &Arc<Template>> {
        let topic = self.topic.iter().map(|topic| &topic.template);
        topic.chain(&self.key).chain(self.headers.iter().map(|(_, value)| value))
    }

    fn topic_name<'a>(&'a self, rendered: &'a [u8]) -> &'a [u8] {
        match &self.topic {
            Some(TopicTemplate { fallback, .. }) if !kafka::is_topic_name(rendered) => {
                oplog::limited(
                    "kafka-topic",
                    oplog::Level::Warning,
                    "The text of topic() is no name of a topic, the message goes to fallback-topic()",
                    &[("topic", &String::from_utf8_lossy(rendered)), ("fallback", fallback)],
                );
                fallback.as_bytes()
            }
            _ => rendered,
        }
    }
}

impl Parts for RecordParts {
    fn form(&self) -> Form {
        PARTED
    }

    fn are_keys(&self) -> bool {
        false
    }

    fn reads(&self, demand: &mut Demand) {
        self.templates().for_each(|template| template.reads(demand));
    }

    fn enclose(
        &self,
        messages: (&Batch, &[u32]),
        texts: (&[u8], &[u32]),
        render: &mut RenderContext,
        chunk: &mut Chunk,
    ) {
        let mut columns = self.spare.lock().pop().unwrap_or_default();
        columns.resize_with(self.templates().count(), Column::default);
        let number = render.seqnum;
        for (column, template) in columns.iter_mut().zip(self.templates()) {
            render.seqnum = number;
            column.fill(template, messages, render);
        }
        chunk.bytes.reserve(texts.0.len() + texts.1.len() * 32);
        for at in 0..texts.1.len() {
            let mut values = columns.iter().map(|column| column.at(at));
            let topic = self.topic.as_ref().and_then(|_| values.next()).unwrap_or_default();
            let key = self.key.as_ref().and_then(|_| values.next()).unwrap_or_default();
            let (topic, value) = (self.topic_name(topic), text(texts, at));
            kafka::envelope::begin(&mut chunk.bytes, topic, key, value, self.headers.len());
            for ((name, _), value) in self.headers.iter().zip(values) {
                kafka::envelope::header(&mut chunk.bytes, name.as_bytes(), value);
            }
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        self.spare.lock().push(columns);
    }
}
