//! Where a message stands among others, in front of its row: the name of a sequence and the number in it,
//! between NULs, which no row has. A partition of Kafka is such a sequence, its offsets are the numbers.

/// Of a name.
const NAME_BYTES_MAX: usize = 250;
const BORDER: u8 = 0;

/// Appends the place of the row that comes next. What is no place is not appended: a name of more than
/// letters, digits and `._-/:`, a number that is none. Such a row is put whenever it comes.
pub fn append(out: &mut Vec<u8>, name: &[u8], number: &[u8]) {
    let may_stand = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/:".contains(byte);
    let is_name = (1..=NAME_BYTES_MAX).contains(&name.len()) && name.iter().all(may_stand);
    if is_name && parsed(number).is_some() {
        out.push(BORDER);
        out.extend_from_slice(name);
        out.push(BORDER);
        out.extend_from_slice(number);
        out.push(BORDER);
    }
}

/// The name and the number, and the row without them.
pub fn split(row: &[u8]) -> (Option<(&str, u64)>, &[u8]) {
    let place = (|| {
        let (name, rest) = until_border(row.strip_prefix(&[BORDER])?)?;
        let (number, rest) = until_border(rest)?;
        // Without a name it is a mark, see [`crate::shape`].
        let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
        Some(((name, parsed(number)?), rest))
    })();
    place.map_or((None, row), |(place, rest)| (Some(place), rest))
}

/// The row without its place.
pub fn without(row: &[u8]) -> &[u8] {
    split(row).1
}

fn until_border(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(BORDER, bytes)?;
    Some((bytes.get(..at)?, bytes.get(at + 1..)?))
}

/// The one behind it has to be one for a database too.
fn parsed(number: &[u8]) -> Option<u64> {
    let number: u64 = std::str::from_utf8(number).ok()?.parse().ok()?;
    (number < i64::MAX as u64).then_some(number)
}

/// Of the messages of a batch.
#[derive(Debug, Default)]
pub struct Places {
    pub names: Vec<String>,
    /// For each message the index of its name and its number; nothing where none has a place.
    of: Vec<Option<(usize, u64)>>,
}

impl Places {
    /// Notes the place of the message with this index; those before it that were not noted have none.
    pub fn note(&mut self, index: usize, place: Option<(&str, u64)>) {
        let Some((name, number)) = place else { return };
        let known = self.names.iter().rposition(|known| known == name);
        let at = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.of.resize(index, None);
        self.of.push(Some((at, number)));
    }

    /// Those of the first messages.
    pub fn cut(&mut self, messages: usize) {
        self.of.truncate(messages);
    }

    /// Which messages stand before what each sequence has reached, or before another of the batch: empty
    /// where none does. `reached` becomes what they reach.
    pub fn passed_over(&self, reached: &mut [u64]) -> Vec<usize> {
        let mut there = Vec::new();
        for (index, place) in self.of.iter().enumerate() {
            let Some((name, number)) = *place else { continue };
            let Some(reached) = reached.get_mut(name) else { continue };
            match number < *reached {
                true => there.push(index),
                false => *reached = number + 1,
            }
        }
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_in_front_of_its_row() {
        let check = |name: &str, number: &str, expected: Option<(&str, u64)>| {
            let mut row = Vec::new();
            append(&mut row, name.as_bytes(), number.as_bytes());
            row.extend_from_slice(b"one\ttwo\n");
            assert_eq!(split(&row), (expected, &b"one\ttwo\n"[..]), "{name} {number}");
        };
        check("logs/3", "17", Some(("logs/3", 17)));
        check("a.b_c-d:0", "0", Some(("a.b_c-d:0", 0)));
        let longest = "x".repeat(NAME_BYTES_MAX);
        check(&longest, "9223372036854775806", Some((&longest, 9_223_372_036_854_775_806)));
        check(&(longest.clone() + "x"), "1", None);
        check("logs/3", "9223372036854775807", None);
        for (name, number) in [("", "1"), ("x", ""), ("x", "-1"), ("x", "1.5"), ("it's", "1"), ("a\\", "1")] {
            check(name, number, None);
        }
    }

    #[test]
    fn what_is_no_place_stays() {
        for row in [&b""[..], b"\0", b"\0a", b"\0a\0", b"\0a\x001", b"\0a\0b\0rest", b"plain\n"] {
            assert_eq!(split(row), (None, row));
        }
    }

    #[test]
    fn numbers_that_were_reached_are_passed_over() {
        let mut places = Places::default();
        let a = |number| Some(("a", number));
        for (index, place) in
            [a(5), None, Some(("b", 1)), a(6), a(6), a(9), a(7), None].into_iter().enumerate()
        {
            places.note(index, place);
        }
        let mut reached = [6, 0];
        assert_eq!(places.passed_over(&mut reached), [0, 4, 6]);
        assert_eq!(reached, [10, 2]);
        assert_eq!(places.passed_over(&mut [0, 0]), [4, 6]);
        assert!(Places::default().passed_over(&mut []).is_empty());
    }
}
