//! What `$TAGS` prints, remembered by the set of tags: of hundreds of tags few sets come together.

use crate::Msg;

/// Tags beyond the first 64 of a set that is remembered.
const MORE_MAX: usize = 6;
/// Places; a power of two.
const PLACES: usize = 256;
/// Longer texts are not remembered.
const TEXT_BYTES_MAX: usize = 1 << 10;

/// A set of tags as a message has it; the same set may have several keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TagsKey {
    first: u64,
    more: [u32; MORE_MAX],
    count: usize,
}

impl TagsKey {
    /// `None` where tags came from messages or were taken away, or are too many.
    #[inline]
    pub fn of(msg: Msg<'_>) -> Option<TagsKey> {
        let mut key = TagsKey { first: msg.record.tags.0, ..TagsKey::default() };
        for tag in msg.batch.set_tags(msg.record) {
            let tag = tag.filter(|tag| !tag.is_local())?;
            *key.more.get_mut(key.count)? = tag.0;
            key.count += 1;
        }
        Some(key)
    }

    #[inline]
    fn place(&self) -> usize {
        const K: u64 = 0x9e37_79b9_7f4a_7c15;
        let more = self.more.iter().take(self.count);
        let hash = more.fold(self.first, |hash, tag| (hash.rotate_left(5) ^ u64::from(*tag)).wrapping_mul(K));
        (hash.wrapping_mul(K) >> 32) as usize & (PLACES - 1)
    }
}

#[derive(Debug, Default)]
pub(crate) struct TagTexts(Vec<(TagsKey, Vec<u8>)>);

impl TagTexts {
    #[inline]
    pub fn get(&self, key: &TagsKey) -> Option<&[u8]> {
        self.0
            .get(key.place())
            .filter(|(known, text)| known == key && !text.is_empty())
            .map(|(_, text)| &**text)
    }

    pub fn set(&mut self, key: TagsKey, text: &[u8]) {
        if self.0.is_empty() {
            self.0.resize_with(PLACES, Default::default);
        }
        if let Some(place) = self.0.get_mut(key.place()).filter(|_| text.len() <= TEXT_BYTES_MAX) {
            place.0 = key;
            place.1.clear();
            place.1.extend_from_slice(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Identity, RenderContext, Template, TemplateOptions};
    use proptest::prelude::*;
    use record::{Batch, Record, Span, TagId, tag_id};

    fn known() -> Vec<TagId> {
        (0..90).map(|n| tag_id(&format!("texts{n}")).expect("room")).collect()
    }

    proptest! {
        /// The same context prints many messages: each as one that has never seen another.
        #[test]
        fn as_without_memory(
            messages in prop::collection::vec(prop::collection::vec((0usize..92, prop::bool::weighted(0.9)), 0..9), 1..60),
        ) {
            let known = known();
            let template = Template::compile("$TAGS", &TemplateOptions::default(), &crate::NoScope).expect("one");
            let mut cx = RenderContext::new(Identity::new("here"));
            let mut batch = Batch::default();
            for tags in messages {
                let index = batch.records.len();
                batch.records.push(Record::new(Span::EMPTY));
                for (tag, on) in tags {
                    let tag = match known.get(tag) {
                        Some(tag) => *tag,
                        None => batch.tag(format!("message's {tag}").as_bytes()).expect("room"),
                    };
                    if on { batch.set_tag(index, tag) } else { batch.clear_tag(index, tag) }
                }
                let names: Vec<&str> = batch.tags(&batch.records[index]).iter().map(|tag| batch.tag_name(*tag)).collect();
                let quoted: Vec<String> = names.iter().map(|name| match name.contains('\'') {
                    true => format!("\"{name}\""),
                    false => (*name).to_owned(),
                }).collect();
                let mut out = Vec::new();
                let record = &batch.records[index];
                template.render(crate::Msg { batch: &batch, record }, &mut cx, &mut out);
                prop_assert_eq!(String::from_utf8_lossy(&out), quoted.join(","));
            }
        }
    }
}
