//! Paths that a configuration names in its texts: databases, tables, modules, keys, what commands write to.

use std::path::Path;

use sandbox::{Access, Rules};

use super::{folder_of, is_system};

/// What ends a word of a command, of a list, of an assignment.
const ENDS: [char; 13] = [' ', '\t', '\n', '"', '\'', ';', '|', '&', '(', ')', '=', ',', ':'];

/// Allows what the texts name: to read what is there, and to write where a command sends its output.
pub fn add(rules: &mut Rules, configuration: &str) {
    for text in literals(configuration) {
        // Each entry of a sealed log changes its key and its MAC, files that are made anew and renamed.
        let seals = text.contains("$(slog ");
        for (word, is_output) in words(&text) {
            let path = Path::new(word);
            if seals {
                let folder = folder_of(path);
                rules.allow_path(if is_system(folder) { path } else { folder }, Access::Write);
            }
            if is_output && rules.starts_programs {
                rules.allow_path(if path.exists() { path } else { folder_of(path) }, Access::Write);
            } else if path.is_dir() && !is_system(path) || path.is_file() && is_system(folder_of(path)) {
                rules.allow_path(path, Access::Read);
            } else if path.is_file() {
                // Another file may take its place.
                rules.allow_path(folder_of(path), Access::Read);
            }
            if rules.starts_programs && is_program(path) {
                rules.allow_path(path, Access::Run);
            }
        }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Absolute paths in a text, and whether each follows a `>` that a shell would see: behind a blank, another
/// `>` or the number of a descriptor. A tag has one too.
fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut is_output = false;
    text.split_inclusive(|c: char| ENDS.contains(&c) || c == '>' || c == '<').filter_map(move |part| {
        let word = part.trim_end_matches(|c: char| ENDS.contains(&c) || c == '>' || c == '<');
        let follows = is_output;
        let opens = part.ends_with('>') && matches!(word, "" | "1" | "2");
        // Blanks may stand between.
        is_output = opens || is_output && word.is_empty();
        // What begins with two is what follows `http:`.
        let is_path = word.len() > 1 && word.starts_with('/') && !word.starts_with("//");
        (is_path && !word.contains('$')).then_some((word, follows))
    })
}

/// Whether Python or a generator of configurations is in the text: both are programs that are started. In
/// comments and texts they are words, but for the template function.
pub fn starts_programs(configuration: &str) -> bool {
    let (texts, rest) = parted(configuration);
    ["python", "confgen"].iter().any(|word| rest.contains(word))
        || texts.iter().any(|text| text.contains("$(python"))
}

fn literals(configuration: &str) -> Vec<String> {
    parted(configuration).0
}

/// The texts in quotes, without their escapes, and what stands outside of them and of comments.
fn parted(configuration: &str) -> (Vec<String>, String) {
    let (mut found, mut rest, mut open) = (Vec::new(), String::new(), None);
    let mut characters = configuration.chars();
    while let Some(c) = characters.next() {
        match (&mut open, c) {
            (None, '"' | '\'') => open = Some((c, String::new())),
            (None, '#') => drop(characters.by_ref().find(|c| *c == '\n')),
            (Some(('"', text)), '\\') => text.extend(characters.next()),
            (Some((quote, text)), c) if *quote == c => {
                found.push(std::mem::take(text));
                open = None;
            }
            (Some((_, text)), c) => text.push(c),
            (None, c) => rest.push(c),
        }
    }
    (found, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_configuration() {
        let check = |text: &str, expected: &[(&str, bool)]| {
            let literals = literals(text);
            let found: Vec<(&str, bool)> = literals.iter().flat_map(|text| words(text)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("file(\"/var/log/x\");", &[("/var/log/x", false)]);
        check("# it's a comment with /a\nfile('/b');", &[("/b", false)]);
        check("program(\"exec cat >> /a/b\");", &[("/a/b", true)]);
        check("program(\"cat >/a 2>/dev/null </c\");", &[("/a", true), ("/dev/null", true), ("/c", false)]);
        check(
            "program(\"sh -c \\\"cat > /a\\\" /d --x=/e\");",
            &[("/a", true), ("/d", false), ("/e", false)],
        );
        check(
            "template(\"<a>/etc/x $HOST>/b </c>/d\");",
            &[("/etc/x", false), ("/b", false), ("/c", false), ("/d", false)],
        );
        check("program(\"x 2>>/a >\n /b\");", &[("/a", true), ("/b", true)]);
        check("file(\"/a/$HOST\") match(\"/\") http(url(\"http://h/x\"));", &[]);
    }

    #[test]
    fn python_shows_outside_of_comments_and_texts() {
        let check = |text: &str, expected: bool| assert_eq!(starts_programs(text), expected, "{text}");
        check("# python\nfilter f { match(\"python\"); };", false);
        check("python { import x };", true);
        check("parser p { python(class(\"P\")); };", true);
        check("template t { template(\"$(python f)\"); };", true);
    }
}
