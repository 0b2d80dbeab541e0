//! How files are called: paths as HDFS can have them, and a number at their end where one is needed.

/// A path without what HDFS has no place for: slashes that follow each other, folders called `.`, and colons,
/// which stand as `_`. Bytes that are no UTF-8 are U+FFFD.
pub fn readable(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name).replace(':', "_");
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let root = if text.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// The path with a number behind it, 0 for none; the name of the file is cut so that it has at most so many
/// bytes.
pub fn numbered(path: &str, number: u64, bytes_max: usize) -> String {
    let suffix = if number == 0 { String::new() } else { format!(".{number}") };
    let (folder, name) = split(path);
    let room = bytes_max.saturating_sub(suffix.len()).max(1);
    let end = (0..=room.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    format!("{folder}{}{suffix}", name.get(..end).unwrap_or(name))
}

/// The folder, with the slash behind it, and the name in it.
pub fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |slash| slash + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_that_can_be() {
        assert_eq!(readable(b"/logs//./a/::1.log"), "/logs/a/__1.log");
        assert_eq!(readable(b"logs/\xff"), "logs/\u{fffd}");
    }

    #[test]
    fn numbers_behind_names() {
        assert_eq!(numbered("/a/b.log", 0, 255), "/a/b.log");
        assert_eq!(numbered("/a/b.log", 12, 255), "/a/b.log.12");
        assert_eq!(numbered("/a/b.log", 12, 6), "/a/b.l.12");
        assert_eq!(numbered("/a/\u{e9}\u{e9}", 0, 3), "/a/\u{e9}");
    }

    proptest! {
        #[test]
        fn no_name_is_longer(name in "[a-z\u{e9}]{1,40}", number in 0u64..100, max in 5usize..30) {
            let made = numbered(&format!("/f/{name}"), number, max);
            prop_assert!(split(&made).1.len() <= max && made.starts_with("/f/"));
        }
    }
}
