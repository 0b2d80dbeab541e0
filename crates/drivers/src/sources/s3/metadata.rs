//! What is known of a message beside its text: the object that it comes from, and where it stands there.

use engine::program::Program;
use engine::source::Source;
use record::{Batch, Context, NameId, ValueType};
use s3_client::pull::Listed;
use std::fmt::Write;
use std::sync::Arc;

/// Before the names of values.
pub const PREFIX: &str = ".s3.";

/// The names of what somebody reads.
#[derive(Clone, Copy, Default)]
struct Names {
    bucket: Option<NameId>,
    key: Option<NameId>,
    offset: Option<NameId>,
    size: Option<NameId>,
    last_modified: Option<NameId>,
}

#[derive(Clone)]
pub struct Metadata {
    bucket: Arc<str>,
    is_stored: bool,
    /// As the messages of all objects have it.
    context: Arc<Context>,
    /// The program that the names were looked up for.
    program: Option<Arc<Program>>,
    names: Names,
    /// As the messages of one object have it, and which object that is.
    of_object: Option<(Listed, Arc<Context>)>,
    text: String,
}

impl Metadata {
    pub fn new(bucket: &str, is_stored: bool, context: Context) -> Metadata {
        Metadata {
            bucket: bucket.into(),
            is_stored,
            context: Arc::new(context),
            program: None,
            names: Names::default(),
            of_object: None,
            text: String::new(),
        }
    }

    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Gives the messages of a batch what the log paths read. `offset`: where its text begins in the object.
    pub fn add(&mut self, batch: &mut Batch, source: &Source, found: &Listed, offset: Option<u64>) {
        // A reload may have brought log paths that read other values.
        let settings = source.settings();
        if !self.program.as_ref().is_some_and(|known| Arc::ptr_eq(known, &settings.program)) {
            let demand = &settings.program.demand;
            let wanted = |name: &str| demand.wanted(&format!("{PREFIX}{name}")).filter(|_| self.is_stored);
            self.names = Names {
                bucket: wanted("bucket"),
                key: wanted("key"),
                offset: wanted("offset"),
                size: wanted("size"),
                last_modified: wanted("last_modified"),
            };
            self.program = Some(Arc::clone(&settings.program));
        }
        if self.of_object.as_ref().is_none_or(|(of, _)| of != found) {
            let mut context = Context::clone(&self.context);
            let name = format!("s3://{}/{}", self.bucket, found.key);
            context.values.push((NameId::FILE_NAME, name.into_bytes().into()));
            self.of_object = Some((found.clone(), Arc::new(context)));
        }
        batch.contexts.extend(self.of_object.iter().map(|(_, context)| Arc::clone(context)));
        let Names { bucket, key, size, last_modified, .. } = self.names;
        for (name, text) in [(bucket, &*self.bucket), (key, &found.key)] {
            self.everywhere(batch, name, text, ValueType::String);
        }
        for (name, number) in [(size, found.size), (last_modified, found.modified)] {
            self.everywhere(batch, name, &number.to_string(), ValueType::Int);
        }
        if let (Some(name), Some(offset)) = (self.names.offset, offset) {
            for index in 0..batch.records.len() {
                let Some(at) = batch.records.get(index).map(|record| record.frame.start) else { continue };
                self.text.clear();
                // Writing to a text cannot fail.
                let _ = write!(self.text, "{}", offset + at as u64);
                batch.set(index, name, self.text.as_bytes(), ValueType::Int);
            }
        }
    }

    /// The same for all messages: their values are one.
    fn everywhere(&self, batch: &mut Batch, name: Option<NameId>, text: &str, kind: ValueType) {
        let Some(name) = name else { return };
        let span = batch.append(text.as_bytes());
        for index in 0..batch.records.len() {
            batch.set_span(index, name, span, kind);
        }
    }
}
