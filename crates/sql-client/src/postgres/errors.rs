//! What the errors of PostgreSQL mean, by their codes (appendix A of its manual).

use crate::not_done::{NotDone, words};
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

/// What was asked when it came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Login,
    /// Nothing is certain yet.
    Statement,
    /// Rows are looked at.
    Rows,
    Commit,
}

pub fn fault(error: &Error, stage: Stage) -> NotDone {
    match error.as_db_error() {
        Some(said) => by_code(said, stage),
        None => by_connection(error, stage),
    }
}

pub fn is_missing_table(error: &Error) -> bool {
    error.code() == Some(&SqlState::UNDEFINED_TABLE)
}

fn by_connection(error: &Error, stage: Stage) -> NotDone {
    let why = words(error);
    match stage {
        // A password is missing, or a method of login is asked for that is not spoken.
        Stage::Login if why.starts_with("authentication") || why.starts_with("invalid config") => {
            NotDone::Hold(why)
        }
        Stage::Login | Stage::Statement | Stage::Rows => NotDone::Away(why),
        Stage::Commit => NotDone::Unknown(why),
    }
}

fn by_code(said: &DbError, stage: Stage) -> NotDone {
    let code = said.code().code();
    let why = match said.detail() {
        Some(detail) => format!("{} ({code}; {detail})", said.message()),
        None => format!("{} ({code})", said.message()),
    };
    match (code.get(..2).unwrap_or_default(), code) {
        (_, "57P01" | "57P02" | "57P03" | "57P05") | ("08", _) => match stage {
            // It says so before it ends, and then it has not done it.
            Stage::Commit => NotDone::Unknown(why),
            _ => NotDone::Away(why),
        },
        (_, "40001" | "40P01" | "55P03" | "25006") | ("53" | "57" | "58", _) => NotDone::Busy(why),
        // What no name of a table can be, a place where there can be none, or the name of a view, a sequence,
        // an index.
        (_, "42601" | "42602" | "42622" | "42809" | "42939" | "0A000" | "3F000") => NotDone::Table(why),
        ("28" | "3D" | "42", _) => NotDone::Hold(why),
        ("22" | "23" | "44" | "P0", _) => match said.where_().and_then(line) {
            Some(line) => NotDone::Row { at: line - 1, why },
            None => NotDone::Rows(why),
        },
        _ if stage == Stage::Rows || stage == Stage::Commit => NotDone::Rows(why),
        _ => NotDone::Hold(why),
    }
}

/// The line that a failed COPY names, from 1 on: `COPY messages, line 2, column pid: "x"`. The words are in
/// the language of the server; above it may stand where in functions of triggers it came up.
fn line(place: &str) -> Option<usize> {
    let copy = place.lines().find(|line| line.starts_with("COPY "))?;
    let (_, rest) = copy.split_once(", ")?;
    let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok().filter(|line| *line > 0)
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn the_line_is_found_in_any_language() {
        assert_eq!(line("COPY messages, line 2, column pid: \"x\""), Some(2));
        assert_eq!(line("COPY u, Zeile 10000"), Some(10_000));
        assert_eq!(line("PL/pgSQL function f() line 3 at RAISE\nCOPY t2, line 17: \"1,2\""), Some(17));
        assert_eq!(line("SQL statement \"SELECT 1\""), None);
        assert_eq!(line("COPY t"), None);
    }
}
