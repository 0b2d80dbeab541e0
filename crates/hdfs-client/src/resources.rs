//! Properties out of Hadoop's own files (`core-site.xml`, `hdfs-site.xml`): names and values, in which
//! `${name}` stands for another value.

use quick_xml::Reader;
use quick_xml::events::Event;
use std::collections::BTreeMap;
use std::path::Path;

/// A larger file is none of Hadoop's.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// A value that refers to others refers to them in so many steps, as Hadoop has it.
const STEPS_MAX: usize = 20;
/// The most bytes that a value becomes by that.
const VALUE_BYTES_MAX: usize = 64 << 10;

/// Adds the properties of a file to those that are known; later ones win, unless an earlier file has said
/// that its own is final.
pub fn read(path: &Path, known: &mut Properties) -> Result<(), String> {
    let failed = |error: String| format!("{}: {error}", path.display());
    let text = regular::read_to_string(path, FILE_BYTES_MAX).map_err(|error| failed(error.to_string()))?;
    parse(&text, known).map_err(failed)
}

#[derive(Debug, Default)]
pub struct Properties {
    values: BTreeMap<String, Property>,
}

#[derive(Debug, Default)]
struct Property {
    value: String,
    is_final: bool,
}

impl Properties {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|property| property.value.as_str())
    }

    /// Whether a name service is called so.
    pub fn knows_service(&self, name: &str) -> bool {
        self.values.contains_key(&format!("dfs.ha.namenodes.{name}"))
    }

    /// All of them, with what they refer to in its place.
    pub fn resolved(&self) -> Vec<(String, String)> {
        self.values.iter().map(|(name, property)| (name.clone(), self.expanded(&property.value))).collect()
    }

    /// What is not known stays as it is written.
    fn expanded(&self, value: &str) -> String {
        let mut text = value.to_owned();
        for _ in 0..STEPS_MAX {
            let known = |start: usize| {
                let end = start + text.get(start..)?.find('}')?;
                Some((start, end, self.get(text.get(start + 2..end)?)?))
            };
            let Some((start, end, inner)) = text.match_indices("${").find_map(|(at, _)| known(at)) else {
                return text;
            };
            let next = [text.get(..start), Some(inner), text.get(end + 1..)].into_iter().flatten().collect();
            text = next;
            if text.len() > VALUE_BYTES_MAX {
                return value.to_owned();
            }
        }
        text
    }

    fn add(&mut self, name: &str, property: Property) {
        let name = name.trim();
        let is_fixed = self.values.get(name).is_some_and(|known| known.is_final);
        if !name.is_empty() && !is_fixed {
            let value = property.value.trim().to_owned();
            self.values.insert(name.to_owned(), Property { value, ..property });
        }
    }
}

/// What [`read`] does with the text of a file.
pub fn parse(text: &str, known: &mut Properties) -> Result<(), String> {
    let mut reader = Reader::from_str(text);
    // Names of elements that are open, and the texts of the property that is being read.
    let mut open: Vec<String> = Vec::new();
    let (mut name, mut property) = (String::new(), Property::default());
    let mut is_configuration = false;
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(element) => {
                let tag = element.local_name().as_ref().to_owned();
                refuse_inclusion(&tag)?;
                is_configuration |= open.is_empty() && tag == "configuration";
                open.push(tag);
            }
            Event::Empty(element) => {
                refuse_inclusion(element.local_name().as_ref())?;
            }
            Event::End(_) => {
                let tag = open.pop().unwrap_or_default();
                if tag == "property" && open.len() == 1 {
                    known.add(&std::mem::take(&mut name), std::mem::take(&mut property));
                }
            }
            Event::Text(text) => take(&open, &text, &mut name, &mut property),
            Event::CData(text) => take(&open, &text, &mut name, &mut property),
            Event::GeneralRef(reference) => {
                let written = format!("&{};", &*reference);
                let text = quick_xml::escape::unescape(&written).map_err(|error| error.to_string())?;
                take(&open, &text, &mut name, &mut property);
            }
            Event::Eof if !open.is_empty() => return Err("it ends too early".to_owned()),
            Event::Eof if !is_configuration => return Err("there is no <configuration> in it".to_owned()),
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(())
}

fn refuse_inclusion(tag: &str) -> Result<(), String> {
    match tag {
        "include" => Err("it includes another file: name that one in hdfs-resources() too".to_owned()),
        _ => Ok(()),
    }
}

/// A text within a property.
fn take(open: &[String], text: &str, name: &mut String, property: &mut Property) {
    let [_, parent, tag] = open else { return };
    match (parent.as_str(), tag.as_str()) {
        ("property", "name") => name.push_str(text),
        ("property", "value") => property.value.push_str(text),
        ("property", "final") => property.is_final |= text.trim() == "true",
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<Properties, String> {
        let mut known = Properties::default();
        parse(text, &mut known).map(|()| known)
    }

    #[test]
    fn properties_of_hadoop() {
        let text = "<?xml version=\"1.0\"?>\n<?xml-stylesheet type=\"text/xsl\" href=\"configuration.xsl\"?>\n<!-- site -->\n\
                    <configuration>\n<property><name>fs.defaultFS</name><value>hdfs://${the.host}:8020</value></property>\n\
                    <property><name>the.host</name><value> nn&amp;1 </value><final>true</final></property>\n\
                    <property><name>loop</name><value>${loop}</value></property></configuration>\n";
        let mut known = parsed(text).expect("properties");
        let later = "<configuration><property><name>the.host</name><value>other</value></property>\
                     <property><name>dfs.ha.namenodes.ns</name><value><![CDATA[a,b]]></value></property></configuration>";
        parse(later, &mut known).expect("more");
        let resolved: BTreeMap<String, String> = known.resolved().into_iter().collect();
        assert_eq!(resolved["fs.defaultFS"], "hdfs://nn&1:8020");
        assert_eq!((resolved["the.host"].as_str(), resolved["loop"].as_str()), ("nn&1", "${loop}"));
        assert!(known.knows_service("ns") && !known.knows_service("other"));
    }

    #[test]
    fn what_is_no_file_of_hadoop() {
        for text in ["", "<a/>", "<configuration>", "<configuration><xi:include href='x'/></configuration>"] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn foreign_bytes_do_no_harm(text in "[<>/a-c$\\{\\}&; ]{0,80}") {
            let _ = parsed(&format!("<configuration>{text}</configuration>"));
        }

        #[test]
        fn values_come_out_as_they_went_in(pairs in proptest::collection::btree_map("[a-z.]{1,9}", "[a-z<>&\"' ]{0,9}", 0..6)) {
            let body: String = pairs.iter().map(|(name, value)| {
                let value = quick_xml::escape::escape(value.as_str());
                format!("<property><name>{name}</name><value>{value}</value></property>")
            }).collect();
            let known = parsed(&format!("<configuration>{body}</configuration>")).expect("properties");
            for (name, value) in &pairs {
                let name = name.as_str();
                prop_assert_eq!(known.get(name).unwrap_or_default(), value.trim());
            }
        }
    }
}
