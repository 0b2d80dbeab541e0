//! Files that are no configuration of syslog-ng but something else: said in one line, where the language
//! would have hundreds of errors for it.

use diag::{Diagnostic, Severity};
use std::io::Read;
use std::path::Path;

/// Bytes that are looked at.
const LOOKED_AT: u64 = 64 << 10;
/// Lines that are looked at.
const LINES_MAX: usize = 500;
/// Beginnings of lines that only rsyslog has.
const RSYSLOG: [&str; 12] = [
    "$ModLoad",
    "$IncludeConfig",
    "$ActionFileDefaultTemplate",
    "$FileOwner",
    "$FileGroup",
    "$WorkDirectory",
    "$InputTCPServerRun",
    "$UDPServerRun",
    "module(load",
    "input(type",
    "action(type",
    "global(",
];

/// What it is, and what to do.
type Kind = (&'static str, &'static str);

/// The finding about a file of another kind; `None` for a configuration, or what cannot be read.
pub fn look(path: &Path) -> Option<Diagnostic> {
    // A pipe would be empty afterwards, and a FIFO would keep us waiting.
    let file = regular::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut bytes).ok()?;
    let (kind, help) = kind(&bytes)?;
    let text = format!("{} is {kind}, no configuration of syslog-ng", path.display());
    Some(Diagnostic::new(Severity::Error, "C0107", text).help(help))
}

fn kind(bytes: &[u8]) -> Option<Kind> {
    let unpack = "unpack it and check what was in it";
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            return Some(("text in UTF-16", "write it in UTF-8: iconv -f UTF-16 -t UTF-8 OLD > NEW"));
        }
        [0x1f, 0x8b, ..] => return Some(("compressed with gzip", unpack)),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => return Some(("compressed with xz", unpack)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return Some(("compressed with zstd", unpack)),
        [0x7f, b'E', b'L', b'F', ..] => {
            return Some(("a program (ELF)", "name the configuration of the program"));
        }
        _ => {}
    }
    let text = String::from_utf8_lossy(bytes);
    let lines = || {
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).take(LINES_MAX)
    };
    // What has a version, a statement or a directive of the language is meant for it, however wrong.
    if lines().any(|line| line.starts_with('@') || is_statement(line)) {
        return None;
    }
    if lines().any(|line| RSYSLOG.iter().any(|begin| line.starts_with(begin)) || is_selector(line)) {
        return Some((
            "a configuration of rsyslog",
            "penstock convert writes it in this language: docs/convert.md",
        ));
    }
    let first = lines().next()?;
    if first.starts_with('[') && first.contains(']') || is_assignment(first) {
        return Some(("TOML, or an INI file", "penstock reads syslog-ng.conf: docs/configuration.md"));
    }
    if first == "---" || is_key(first) {
        return Some(("YAML", "penstock reads syslog-ng.conf: docs/configuration.md"));
    }
    (first.starts_with('{') && first.len() < 3 || first.starts_with("{\""))
        .then_some(("JSON", "penstock reads syslog-ng.conf: docs/configuration.md"))
}

/// `source s {`, `log {`, `options {`
fn is_statement(line: &str) -> bool {
    const WORDS: [&str; 12] = [
        "source",
        "destination",
        "log",
        "filter",
        "parser",
        "rewrite",
        "template",
        "options",
        "block",
        "application",
        "python",
        "template-function",
    ];
    let word = line.split(|c: char| c.is_whitespace() || c == '{').next().unwrap_or_default();
    let rest = line.get(word.len()..).unwrap_or_default().trim_start();
    WORDS.contains(&word)
        && (rest.is_empty() || rest.contains('{') || rest.starts_with(|c: char| c.is_alphabetic()))
}

/// `*.info;mail.none  /var/log/messages`
fn is_selector(line: &str) -> bool {
    let Some((selector, action)) = line.split_once([' ', '\t']) else { return false };
    let action = action.trim_start();
    let is_part = |part: &str| {
        let Some((facilities, level)) = part.split_once('.') else { return false };
        let is_word = |word: &str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "*,!=".contains(c))
        };
        is_word(facilities) && is_word(level)
    };
    selector.split(';').filter(|part| !part.is_empty()).all(is_part)
        && action.starts_with(['/', '-', '@', ':', '|', '~', '*'])
}

/// `key: value`, or `key:` alone
fn is_key(line: &str) -> bool {
    let Some((key, rest)) = line.split_once(':') else { return false };
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    !key.is_empty() && key.chars().all(is_word) && (rest.is_empty() || rest.starts_with(' '))
}

/// `key = value`
fn is_assignment(line: &str) -> bool {
    let Some((key, value)) = line.split_once('=') else { return false };
    let key = key.trim_end();
    !key.is_empty()
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && !value.starts_with('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(kind(text.as_bytes()).map(|(kind, _)| kind), expected, "{text}");
    }

    #[test]
    fn other_kinds_of_files_are_known() {
        check("---\nsources:\n  in:\n    type: syslog\n", Some("YAML"));
        check("# vector\nsources:\n", Some("YAML"));
        check("[sources.in]\ntype = \"syslog\"\n", Some("TOML, or an INI file"));
        check("data_dir = \"/var\"\n", Some("TOML, or an INI file"));
        check("module(load=\"imuxsock\")\n", Some("a configuration of rsyslog"));
        check("# x\nauth,authpriv.*\t\t/var/log/auth.log\n", Some("a configuration of rsyslog"));
        check("*.emerg :omusrmsg:*\n", Some("a configuration of rsyslog"));
        check("{\n \"inputs\": []\n}\n", Some("JSON"));
        assert!(kind(b"\xff\xfe@\0v\0").is_some_and(|(kind, _)| kind.contains("UTF-16")));
        assert!(kind(b"\x1f\x8b\x08").is_some_and(|(kind, _)| kind.contains("gzip")));
        assert!(kind(b"\x7fELF\x02").is_some_and(|(kind, _)| kind.contains("ELF")));
    }

    #[test]
    fn configurations_are_let_alone() {
        check("@version: 4.11\nlog { };\n", None);
        check("# no version\nsource s { internal(); };\n", None);
        check("options { };\n", None);
        check("log {\n source(s);\n};\n", None);
        check("source\ns\n{ internal(); };\n", None);
        check("", None);
        check("garbage\n", None);
    }
}
