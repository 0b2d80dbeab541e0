//! Names in a database, and the statements that make tables.

use crate::not_done::NotDone;
use crate::plan::{Column, Plan};
use crate::server::Server;

/// The longest name of an index: PostgreSQL cuts longer ones, MySQL refuses them.
const INDEX_NAME_MAX: usize = 60;
/// How often a table is looked at again that somebody else makes at the same moment.
const LOOKS_MAX: usize = 3;

/// Whether a character may stand in a name, and where.
fn may_stand(at: usize, byte: u8) -> bool {
    byte.is_ascii_alphabetic() || b"._".contains(&byte) || at > 0 && byte.is_ascii_digit()
}

/// Whether it is a name as it stands.
pub fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.bytes().enumerate().all(|(at, byte)| may_stand(at, byte))
}

/// What a message brings, as a name: everything but letters, digits, `_` and `.` becomes `_`, and so does a
/// digit at the front. As in syslog-ng.
pub fn sanitize(name: &mut [u8]) {
    for (at, byte) in name.iter_mut().enumerate() {
        if !may_stand(at, *byte) {
            *byte = b'_';
        }
    }
}

/// Makes the table when it is not there, and the columns that it does not have.
pub async fn prepare<S: Server>(plan: &Plan, server: &mut S, table: &str) -> Result<(), NotDone> {
    let mut last = Ok(());
    for _ in 0..LOOKS_MAX {
        let there = server.columns(table).await?;
        let missing: Vec<&Column> = match &there {
            None => plan.columns.iter().collect(),
            Some(names) => {
                let has =
                    |column: &&Column| !names.iter().any(|name| name.eq_ignore_ascii_case(&column.name));
                plan.columns.iter().filter(has).collect()
            }
        };
        if missing.is_empty() {
            return Ok(());
        }
        last = make(plan, server, table, there.is_none(), &missing).await;
        if last.is_ok() {
            return Ok(());
        }
        // Another connection may have made it meanwhile.
        if !matches!(last, Err(NotDone::Hold(_) | NotDone::Rows(_) | NotDone::Row { .. })) {
            return last;
        }
    }
    last
}

async fn make<S: Server>(
    plan: &Plan,
    server: &mut S,
    table: &str,
    is_new: bool,
    columns: &[&Column],
) -> Result<(), NotDone> {
    let name = plan.quoted(table);
    let described = |column: &&Column| format!("{} {}", plan.quoted(&column.name), column.kind);
    if is_new {
        let mut list = columns.iter().map(described).collect::<Vec<_>>().join(", ");
        // At once: nobody may find the table without it.
        if let Some(unique) = plan.listed_unique() {
            list.push_str(&format!(", UNIQUE ({unique})"));
        }
        let statement = format!("CREATE TABLE {name} ({list}) {}", plan.create_append);
        server.execute(statement.trim_end()).await?;
    } else {
        for column in columns {
            server.execute(&format!("ALTER TABLE {name} ADD COLUMN {}", described(column))).await?;
        }
    }
    for column in columns.iter().filter(|column| plan.indexes.contains(&column.name)) {
        let index = index_name(table, &column.name);
        let on = format!("{name} ({})", plan.quoted(&column.name));
        server.execute(&format!("CREATE INDEX {} ON {on}", plan.quoted(&index))).await?;
    }
    let is_part = |column: &&Column| plan.unique.contains(&column.name);
    if let (Some(listed), true) = (plan.listed_unique(), !is_new && columns.iter().any(is_part)) {
        let index = index_name(table, &plan.unique.join("_"));
        let on = format!("{name} ({listed})");
        server.execute(&format!("CREATE UNIQUE INDEX {} ON {on}", plan.quoted(&index))).await?;
    }
    Ok(())
}

/// A number made of a name: it only has to differ (FNV-1a).
pub fn number_of(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// `TABLE_COLUMN_idx`; of a longer one the beginning and a number made of all of it.
fn index_name(table: &str, column: &str) -> String {
    let name = format!("{table}_{column}_idx").replace('.', "_");
    if name.len() <= INDEX_NAME_MAX {
        return name;
    }
    let hash = number_of(&name);
    let head: String = name.chars().take(INDEX_NAME_MAX - 17).collect();
    format!("{head}_{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sanitized(name: &str) -> String {
        let mut bytes = name.as_bytes().to_vec();
        sanitize(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn names_are_those_of_syslog_ng() {
        let cases = [
            ("messages_web-1.example", "messages_web_1.example"),
            ("2024_logs", "_024_logs"),
            ("a b;DROP TABLE c", "a_b_DROP_TABLE_c"),
            ("gr\u{f6}\u{df}er", "gr____er"),
        ];
        for (name, wanted) in cases {
            assert_eq!(sanitized(name), wanted);
        }
        assert!(
            is_identifier("schema.table_1")
                && is_identifier("_id")
                && !is_identifier("1st")
                && !is_identifier("")
                && !is_identifier("a-b")
        );
    }

    #[test]
    fn long_names_of_indexes_stay_different() {
        assert_eq!(index_name("logs.messages", "host"), "logs_messages_host_idx");
        let (one, two) = (index_name(&"t".repeat(80), "host"), index_name(&"t".repeat(80), "hosts"));
        assert!(one != two && one.len() == INDEX_NAME_MAX, "{one} {two}");
    }
}
