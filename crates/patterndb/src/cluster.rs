//! Patterns made of log lines: words that are frequent at their place stay, what stands between them becomes
//! a parser.
//!
//! A line's cluster is the row of its frequent words with the delimiters behind all words, so lines of one
//! cluster differ only in words and never in the number of them. A cluster with enough lines makes a pattern.

use std::collections::HashMap;

/// Delimiters of words.
pub const DELIMITERS: &str = " :&~?![]=,;()'\"";

pub struct Options<'a> {
    /// Percent of the lines a pattern has to cover.
    pub support: f64,
    pub delimiters: &'a str,
    /// Goes on with the lines that no pattern covers, until there are no new ones.
    pub outliers: bool,
    /// Names `.dict.string0`... for the parsers.
    pub named: bool,
    /// Lines kept of each cluster.
    pub samples: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    pub pattern: String,
    pub count: usize,
    pub samples: Vec<String>,
}

/// Words of a line, each with the delimiter behind it, 0 at the end of the line.
type Words<'a> = Vec<(&'a str, char)>;

/// Longer lines are cut.
const WORDS_MAX: usize = 512;

pub fn clusters(lines: &[String], options: &Options<'_>) -> Vec<Cluster> {
    let mut left: Vec<&str> = lines.iter().map(String::as_str).filter(|l| !l.is_empty()).collect();
    let mut all = Vec::new();
    loop {
        let support = ((left.len() as f64 * options.support / 100.0).ceil() as usize).max(1);
        let (mut found, outliers) = pass(&left, support, options);
        let done = found.is_empty() || outliers.is_empty() || !options.outliers;
        all.append(&mut found);
        if done {
            return all;
        }
        left = outliers;
    }
}

fn pass<'a>(lines: &[&'a str], support: usize, options: &Options<'_>) -> (Vec<Cluster>, Vec<&'a str>) {
    let split: Vec<Words<'_>> = lines.iter().map(|line| words(line, options.delimiters)).collect();
    let mut frequent: HashMap<(usize, &str), usize> = HashMap::new();
    for (place, (word, _)) in split.iter().flat_map(|w| w.iter().enumerate()) {
        *frequent.entry((place, word)).or_default() += 1;
    }
    frequent.retain(|_, count| *count >= support);
    type Key<'a> = Vec<(Option<&'a str>, char)>;
    let mut clusters: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
    for (line, words) in split.iter().enumerate() {
        let key = words.iter().enumerate().map(|(place, (word, delimiter))| {
            (frequent.contains_key(&(place, *word)).then_some(*word), *delimiter)
        });
        clusters.entry(key.collect()).or_default().push(line);
    }
    let mut found = Vec::new();
    let mut outliers = Vec::new();
    for (key, members) in clusters {
        if members.len() < support || key.iter().all(|(word, _)| word.is_none_or(str::is_empty)) {
            outliers.extend(members);
            continue;
        }
        let samples = members.iter().take(options.samples).filter_map(|n| lines.get(*n));
        found.push((
            members.first().copied(),
            Cluster {
                pattern: pattern(&key, options.named),
                count: members.len(),
                samples: samples.map(|s| (*s).to_owned()).collect(),
            },
        ));
    }
    // The most frequent first, then as they came.
    found.sort_by_key(|(first, cluster)| (std::cmp::Reverse(cluster.count), *first));
    outliers.sort_unstable();
    let outliers = outliers.into_iter().filter_map(|n| lines.get(n).copied()).collect();
    (found.into_iter().map(|(_, cluster)| cluster).collect(), outliers)
}

fn words<'a>(line: &'a str, delimiters: &str) -> Words<'a> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c| delimiters.contains(c)) {
        if words.len() >= WORDS_MAX {
            return words;
        }
        let (word, behind) = rest.split_at(at);
        let delimiter = behind.chars().next().unwrap_or('\0');
        words.push((word, delimiter));
        rest = &behind[delimiter.len_utf8().min(behind.len())..];
    }
    words.push((rest, '\0'));
    words
}

fn pattern(key: &[(Option<&str>, char)], named: bool) -> String {
    let mut text = String::new();
    let mut parsers = 0;
    for (word, delimiter) in key {
        match word {
            Some(word) => {
                text.push_str(&word.replace('@', "@@"));
                if *delimiter != '\0' {
                    text.push(*delimiter);
                }
            }
            None => {
                let name = if named { format!(".dict.string{parsers}") } else { String::new() };
                parsers += 1;
                match delimiter {
                    '\0' => text.push_str(&format!("@ANYSTRING:{name}@")),
                    delimiter => text.push_str(&format!("@ESTRING:{name}:{delimiter}@")),
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], outliers: bool, expected: &[(&str, usize)]) {
        let lines: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
        let options = Options { support: 40.0, delimiters: DELIMITERS, outliers, named: true, samples: 1 };
        let got = clusters(&lines, &options);
        let got: Vec<(&str, usize)> = got.iter().map(|c| (c.pattern.as_str(), c.count)).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn words_that_change_become_parsers() {
        let lines = ["user a from x: 1", "user b from y: 2", "user c@d from z: 3", "stop"];
        check(
            &lines,
            false,
            &[("user @ESTRING:.dict.string0: @from @ESTRING:.dict.string1::@ @ANYSTRING:.dict.string2@", 3)],
        );
        check(
            &lines,
            true,
            &[
                ("user @ESTRING:.dict.string0: @from @ESTRING:.dict.string1::@ @ANYSTRING:.dict.string2@", 3),
                ("stop", 1),
            ],
        );
    }

    #[test]
    fn at_signs_stay_literal() {
        check(&["a@b", "a@b"], false, &[("a@@b", 2)]);
    }
}
