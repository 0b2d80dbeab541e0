//! What a listing of a bucket says: ListObjectsV2 of S3's protocol.

use crate::answer::{element, elements, unescaped, whole_element};
use crate::name::encoded;
use http_client::percent_decoded;
use record::Civil;
use ring::digest;

/// An object as a listing has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub key: String,
    /// With its quotes; empty where the server has none.
    pub tag: String,
    pub size: u64,
    /// Milliseconds since 1970.
    pub modified: u64,
    /// Of an object that a notification has told of: what tells it from others of its name and content.
    pub sequence: String,
}

/// What tells an object from others, and from a later one of its name.
pub type Id = [u8; 16];

impl Listed {
    /// One of the objects that stand for a folder.
    pub fn is_folder(&self) -> bool {
        self.size == 0 && self.key.ends_with('/')
    }

    /// Whether this is its tag, with quotes or without.
    pub fn has_tag(&self, tag: &str) -> bool {
        tag.trim_matches('"') == self.tag.trim_matches('"')
    }

    pub fn id(&self) -> Id {
        let mut context = digest::Context::new(&digest::SHA256);
        for part in [&self.key, "\0", &self.tag] as [&str; 3] {
            context.update(part.as_bytes());
        }
        if !self.sequence.is_empty() {
            context.update(b"\0");
            context.update(self.sequence.as_bytes());
        }
        context.finish().as_ref().first_chunk().copied().unwrap_or_default()
    }
}

/// Up to a thousand objects, in the order of their names.
#[derive(Debug)]
pub struct Page {
    pub objects: Vec<Listed>,
    /// The name of the last one, whatever it is.
    pub last: Option<String>,
    pub is_last: bool,
    /// Objects that are left out because they are in an archive: nobody can read them there.
    pub archived: usize,
}

/// Where objects cannot be read.
const ARCHIVES: [&str; 2] = ["GLACIER", "DEEP_ARCHIVE"];

/// The query for the objects behind a name.
pub fn query(prefix: &str, after: &str) -> String {
    let part = |text: &str| encoded(text.as_bytes(), false);
    format!("encoding-type=url&list-type=2&prefix={}&start-after={}", part(prefix), part(after))
}

/// `None`: this is no listing.
pub fn page(body: &[u8]) -> Option<Page> {
    element(body, "IsTruncated")?;
    let is_encoded = element(body, "EncodingType") == Some("url");
    let read = |text: &str| match is_encoded {
        true => percent_decoded(unescaped(text).replace('+', " ").as_bytes()),
        false => unescaped(text),
    };
    let (mut last, mut archived) = (None, 0);
    let mut objects = Vec::new();
    for one in elements(body, "Contents") {
        let part = |name| element(one.as_bytes(), name);
        let Some(key) = whole_element(one.as_bytes(), "Key").map(read) else { continue };
        last = Some(key.clone());
        if part("StorageClass").is_some_and(|class| ARCHIVES.contains(&class)) {
            archived += 1;
            continue;
        }
        let size = part("Size").and_then(|size| size.parse().ok());
        let modified = part("LastModified").and_then(milliseconds);
        if let (Some(size), Some(modified)) = (size, modified) {
            let tag = part("ETag").map(unescaped).unwrap_or_default();
            objects.push(Listed { key, tag, size, modified, sequence: String::new() });
        }
    }
    Some(Page { objects, last, is_last: element(body, "IsTruncated") != Some("true"), archived })
}

/// Of `2026-11-29T16:05:03.000Z`.
fn milliseconds(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers =
        |text: &str, mark| text.split(mark).map(|n| n.parse::<u64>().ok()).collect::<Option<Vec<_>>>();
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let ([year, month, day], [hours, minutes, seconds]) =
        (<[u64; 3]>::try_from(numbers(date, '-')?).ok()?, <[u64; 3]>::try_from(numbers(clock, ':')?).ok()?);
    let is_time = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_time || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let [month, day, hour, min, sec] = [month, day, hours, minutes, seconds].map(|number| number as u8);
    let seconds = Civil { year: year as i32, month, day, hour, min, sec }.seconds();
    let thousandths = format!("{fraction:0<3}").get(..3)?.parse::<u64>().ok()?;
    Some(u64::try_from(seconds).ok()? * 1000 + thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ANSWER: &str = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>\
        <Prefix>a</Prefix><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>\
        <Contents><Key>a/x+y%2B%C3%A9</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>&quot;f0&quot;</ETag><Size>7</Size></Contents>\
        <Contents><Key>a/y</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified><Size>7</Size><StorageClass>GLACIER</StorageClass></Contents>\
        <Contents><Key>a/z</Key><LastModified>nonsense</LastModified><Size>1</Size></Contents></ListBucketResult>";

    #[test]
    fn a_page_of_a_listing() {
        let found = page(ANSWER.as_bytes()).expect("a listing");
        let one = Listed {
            key: "a/x y+\u{e9}".into(),
            tag: "\"f0\"".into(),
            size: 7,
            modified: 1_255_369_830_000,
            sequence: String::new(),
        };
        assert_eq!(
            (found.objects.as_slice(), found.last.as_deref(), found.is_last, found.archived),
            (&[one][..], Some("a/z"), false, 1)
        );
        let plain = ANSWER.replace("<EncodingType>url</EncodingType>", "").replace(">true<", ">false<");
        let found = page(plain.as_bytes()).expect("a listing");
        assert_eq!((found.objects[0].key.as_str(), found.is_last), ("a/x+y%2B%C3%A9", true));
        let blanks = plain.replace("a/y", " a ").replace("GLACIER", "STANDARD");
        assert_eq!(page(blanks.as_bytes()).expect("a listing").objects[1].key, " a ");
        assert!(page(b"<Error><Code>NoSuchBucket</Code></Error>").is_none());
        assert_eq!(
            query("a b/", "\u{e9}"),
            "encoding-type=url&list-type=2&prefix=a%20b%2F&start-after=%C3%A9"
        );
    }

    #[test]
    fn times() {
        assert_eq!(milliseconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(milliseconds("2000-02-29T12:34:56.5Z"), Some(951_827_696_500));
        for wrong in [
            "",
            "2000-02-29",
            "2000-13-01T00:00:00Z",
            "2000-01-01T24:00:00Z",
            "2000-01-01T00:00:00.\u{e9}\u{e9}Z",
        ] {
            assert_eq!(milliseconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_object_is_another_one_when_it_was_written_anew() {
        let of = |key: &str, tag: &str| {
            Listed { key: key.into(), tag: tag.into(), size: 1, modified: 1, sequence: String::new() }.id()
        };
        assert!(of("a", "1") != of("a", "2") && of("a1", "") != of("a", "1") && of("a", "1") == of("a", "1"));
    }

    proptest! {
        #[test]
        fn foreign_bytes_do_no_harm(body in proptest::collection::vec(any::<u8>(), 0..300), cut in 0usize..600, at in 0usize..600) {
            crate::pull::read_anything(&body);
            let mut answer = ANSWER.as_bytes().to_vec();
            answer.truncate(cut);
            if let Some(byte) = answer.get_mut(at) { *byte ^= 0x11; }
            crate::pull::read_anything(&answer);
        }
    }
}
