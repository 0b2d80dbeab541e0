//! What the errors of MySQL and MariaDB mean, by their numbers.

use crate::not_done::{NotDone, words};
use mysql_async::{DriverError, Error, ServerError};

/// What was asked when it came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Login,
    /// Nothing is certain yet.
    Statement,
    Commit,
}

const NO_SUCH_TABLE: u16 = 1146;

pub fn fault(error: &Error, stage: Stage) -> NotDone {
    match error {
        Error::Server(said) => by_number(said, stage),
        Error::Driver(DriverError::UnknownAuthPlugin { .. }) => NotDone::Hold(words(error)),
        _ if stage == Stage::Commit => NotDone::Unknown(words(error)),
        _ => NotDone::Away(words(error)),
    }
}

pub fn is_missing_table(error: &Error) -> bool {
    matches!(error, Error::Server(said) if said.code == NO_SUCH_TABLE)
}

fn by_number(said: &ServerError, stage: Stage) -> NotDone {
    let why = format!("{} ({})", said.message, said.code);
    match said.code {
        // It goes down, or has ended the connection.
        1053 | 1077 | 1079 | 1080 | 1152 | 1158..=1161 | 1184 | 1927 | 4031 => match stage {
            Stage::Commit => NotDone::Unknown(why),
            _ => NotDone::Away(why),
        },
        // Too many connections, no memory, a full disk or table, locks, a server that is read-only.
        1021 | 1030 | 1037 | 1038 | 1040 | 1041 | 1114 | 1129 | 1203 | 1205 | 1206 | 1213 | 1226 | 1290
        | 1317 | 1792 | 1836 | 1969 | 3024 => NotDone::Busy(why),
        // What no name of a table can be, or a database that is not there.
        1059 | 1064 | 1103 | 1102 if stage == Stage::Statement => NotDone::Table(why),
        1044 | 1049 if stage == Stage::Statement => NotDone::Table(why),
        // A view has this name.
        1347 if stage == Stage::Statement => NotDone::Table(why),
        _ if stage == Stage::Login => NotDone::Hold(why),
        // These name the row, at the end.
        1264 | 1265 | 1292 | 1366 | 1406 | 1411 | 1690 => match trailing_number(&said.message) {
            Some(row) => NotDone::Row { at: row - 1, why },
            None => NotDone::Rows(why),
        },
        // A column without a value is a matter of the table.
        1364 => NotDone::Hold(why),
        // Values without a partition, and what triggers signal, are among them.
        1048 | 1062 | 1153 | 1169 | 1216 | 1452 | 1526 | 1557 | 1586 | 1644 | 1748 | 3819 | 4025 => {
            NotDone::Rows(why)
        }
        _ => match said.state.get(..2) {
            Some("22" | "23" | "45") => NotDone::Rows(why),
            _ if stage == Stage::Commit => NotDone::Rows(why),
            _ => NotDone::Hold(why),
        },
    }
}

/// `Data too long for column 'msg' at row 3`, in any language.
fn trailing_number(message: &str) -> Option<usize> {
    let digits = message.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    message.get(digits..)?.parse().ok().filter(|row| *row > 0)
}

#[cfg(test)]
mod tests {
    use super::trailing_number;

    #[test]
    fn the_row_is_the_last_word() {
        assert_eq!(trailing_number("Data too long for column 'c3' at row 17"), Some(17));
        assert_eq!(trailing_number("Daten zu lang für Feld 'c3' in Zeile 2"), Some(2));
        assert_eq!(trailing_number("Duplicate entry '1' for key 'PRIMARY'"), None);
    }
}
