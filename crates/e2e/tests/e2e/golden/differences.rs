//! Where the distribution's syslog-ng is known to differ: `tests/golden/differences.toml`, one `"area/name" =
//! "why"` a line.

use std::collections::BTreeMap;
use testkit::penstock::root;

pub fn read() -> BTreeMap<String, String> {
    let text =
        std::fs::read_to_string(root().join("tests/golden/differences.toml")).expect("differences.toml");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let (name, why) = line.split_once(" = ")?;
        Some((name.trim_matches('"').to_owned(), why.trim_matches('"').to_owned()))
    };
    lines.map(|line| entry(line).unwrap_or_else(|| panic!("differences.toml: {line}"))).collect()
}
