//! Positions in texts as editors count them, by lines and units of UTF-16, and the words there.

use lsp_types::Position;

/// The byte at a position; the end of the line, or of the text, where there is none.
pub fn offset(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match text.get(start..).and_then(|rest| rest.find('\n')) {
            Some(end) => start += end + 1,
            None => return text.len(),
        }
    }
    let mut units = 0;
    let line = text.get(start..).unwrap_or_default();
    for (at, c) in line.char_indices() {
        if c == '\n' || units >= position.character as usize {
            return start + at;
        }
        units += c.len_utf16();
    }
    text.len()
}

pub fn position(text: &str, offset: usize) -> Position {
    let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count();
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let units: usize = before.get(begin..).unwrap_or_default().chars().map(char::len_utf16).sum();
    Position {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        character: u32::try_from(units).unwrap_or(u32::MAX),
    }
}

fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The word around a byte, and where it begins.
pub fn word_at(text: &str, offset: usize) -> Option<(usize, &str)> {
    let before = text.get(..offset)?;
    let start =
        before.char_indices().rev().take_while(|(_, c)| is_in_word(*c)).last().map_or(offset, |(at, _)| at);
    let rest = text.get(start..)?;
    let end = rest.find(|c: char| !is_in_word(c)).unwrap_or(rest.len());
    let word = rest.get(..end)?;
    (!word.is_empty()).then_some((start, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_units_of_utf16() {
        let text = "a\nä😀b\n";
        for (line, character, expected) in
            [(0, 0, 0), (0, 9, 1), (1, 0, 2), (1, 1, 4), (1, 3, 8), (1, 4, 9), (2, 0, 10), (9, 9, 10)]
        {
            let found = offset(text, Position { line, character });
            assert_eq!(found, expected, "{line}:{character}");
        }
        for at in [0, 1, 2, 4, 8, 9, 10] {
            assert_eq!(offset(text, position(text, at)), at);
        }
    }

    #[test]
    fn words_are_found_at_their_ends_too() {
        assert_eq!(word_at("log { source(s_net); }", 13), Some((13, "s_net")));
        assert_eq!(word_at("log { source(s_net); }", 18), Some((13, "s_net")));
        assert_eq!(word_at("{ }", 1), None);
    }
}
