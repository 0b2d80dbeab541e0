//! Databases written: several made into one, and rules made of clusters.

use crate::cluster::Cluster;
use std::fmt::Write;

/// Text as it stands in XML.
pub fn escape(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}

/// The file with the rulesets of all the texts, in their order, as they are written, comments included. The
/// texts have been read without errors before.
pub fn merge(texts: &[(u8, String)], date: &str) -> String {
    let version = texts.iter().map(|(version, _)| *version).max().unwrap_or(6);
    let mut out =
        format!("<?xml version='1.0' encoding='UTF-8'?>\n<patterndb version='{version}' pub_date='{date}'>");
    for (_, text) in texts {
        out.push_str(inside(text).trim_end());
    }
    out.push_str("\n</patterndb>\n");
    out
}

/// What stands inside of the outermost element.
fn inside(text: &str) -> &str {
    let begin = text.find("<patterndb").map_or(text, |at| &text[at..]);
    let mut quote = None;
    let end = begin.char_indices().find(|(_, c)| {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(*c),
            (Some(q), c) if q == *c => quote = None,
            (None, '>') => return true,
            _ => {}
        }
        false
    });
    let body = end.map_or("", |(at, _)| &begin[at + 1..]);
    body.rfind("</patterndb").map_or("", |at| &body[..at])
}

/// A database with a rule for each cluster.
pub fn of_clusters(clusters: &[Cluster], date: &str) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<patterndb version='6' pub_date='{date}'>\n  <ruleset name='patternize' id='{}'>\n    <rules>\n",
        uuid("ruleset")
    );
    for cluster in clusters {
        let _ = write!(
            out,
            "      <rule id='{}' class='system' provider='patternize'>\n        <!-- support: {} -->\n        <patterns>\n          \
             <pattern>{}</pattern>\n        </patterns>\n",
            uuid(&cluster.pattern),
            cluster.count,
            escape(&cluster.pattern)
        );
        if !cluster.samples.is_empty() {
            out.push_str("        <examples>\n");
            for sample in &cluster.samples {
                let _ = writeln!(
                    out,
                    "          <example>\n            <test_message program='patternize'>{}</test_message>\n          </example>",
                    escape(sample)
                );
            }
            out.push_str("        </examples>\n");
        }
        out.push_str("      </rule>\n");
    }
    out.push_str("    </rules>\n  </ruleset>\n</patterndb>\n");
    out
}

/// The same text has the same id, so that a database made again has the same rules.
fn uuid(text: &str) -> String {
    let fnv = |seed: u64| {
        text.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    };
    let (high, low) = (fnv(0xcbf2_9ce4_8422_2325), fnv(0x6c62_272e_07bb_0142));
    // A name-based id, variant 1.
    let (high, low) = (high & !0xf000 | 0x8000, low & !(3 << 62) | 2 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load;

    #[test]
    fn what_is_merged_can_be_read() {
        let one = |id: &str, version: u8| {
            (
                version,
                format!(
                    "<?xml version='1.0'?>\n<!-- x --><patterndb version='{version}' pub_date='a>b'>\n <ruleset><rules><rule id='{id}'><pattern>{id}</pattern></rule></rules></ruleset>\n</patterndb>\n"
                ),
            )
        };
        let merged = merge(&[one("a", 4), one("b", 5)], "2026-01-01");
        let loaded = load("t", merged.as_bytes());
        assert_eq!(loaded.lines(), Vec::<String>::new(), "{merged}");
        let database = loaded.database.expect("a database");
        assert_eq!(database.version, 5);
        let ids: Vec<&str> = database.rulesets.iter().map(|r| r.rules[0].id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
    }

    #[test]
    fn clusters_make_a_database() {
        let cluster =
            Cluster { pattern: "a <@ESTRING:: @b".to_owned(), count: 3, samples: vec!["a <x b".to_owned()] };
        let text = of_clusters(&[cluster], "2026-01-01");
        let loaded = load("t", text.as_bytes());
        assert_eq!(loaded.lines(), Vec::<String>::new(), "{text}");
        let rule = &loaded.database.expect("a database").rulesets[0].rules[0];
        assert_eq!(
            (rule.patterns[0].text.as_str(), rule.examples[0].message.as_str()),
            ("a <@ESTRING:: @b", "a <x b")
        );
        assert_eq!(rule.id.len(), 36);
    }
}
