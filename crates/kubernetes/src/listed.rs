//! A page of a list of pods, read one pod after the other: the whole of it as a tree would take many times
//! its bytes.

use crate::pod;
use parsers::kubernetes::pods::Pod;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub pods: Vec<Pod>,
    /// What a watch begins behind.
    pub version: String,
    /// How the next page is asked for; empty on the last one.
    pub next: String,
}

/// The error says why it is none.
pub fn read(bytes: &[u8]) -> Result<Page, String> {
    let mut page = Page::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    List(&mut page).deserialize(&mut reader).map_err(|error| format!("no list of pods: {error}"))?;
    if page.version.is_empty() {
        return Err("no list of pods: it has no version".to_owned());
    }
    Ok(page)
}

struct List<'p>(&'p mut Page);

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "metadata" => {
                    let about: Value = map.next_value()?;
                    let word =
                        |name: &str| about.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                    (self.0.version, self.0.next) = (word("resourceVersion"), word("continue"));
                }
                "items" => map.next_value_seed(Items(&mut self.0.pods))?,
                _ => {
                    let _: IgnoredAny = map.next_value()?;
                }
            }
        }
        Ok(())
    }
}

struct Items<'p>(&'p mut Vec<Pod>);

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of pods")
    }

    /// Without any it may be `null`.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<Value>()? {
            self.0.extend(pod::of(&item).map(|(pod, _)| pod));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
        let text = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"x"},
                       "items":[{"metadata":{"name":"a","namespace":"n"}},{"metadata":{}},{"metadata":{"name":"b","namespace":"n"}}]}"#;
        let page = read(text.as_bytes()).expect("a page");
        let names: Vec<&str> = page.pods.iter().map(|pod| &*pod.name).collect();
        assert_eq!((names, &*page.version, &*page.next), (vec!["a", "b"], "5", "x"));
        let empty = read(br#"{"items":null,"metadata":{"resourceVersion":"6"}}"#).expect("a page");
        assert!(empty.pods.is_empty() && empty.next.is_empty());
        for wrong in [
            "",
            "[]",
            "{}",
            r#"{"items":3,"metadata":{"resourceVersion":"6"}}"#,
            r#"{"metadata":{"resourceVersion":"6"}"#,
        ] {
            assert!(read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
