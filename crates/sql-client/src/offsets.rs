//! How far sequences of messages are in their tables, partitions of Kafka say, kept in a table of the
//! database: in the transaction that puts the rows, so that what is read again is known, by whichever
//! collector.

use crate::not_done::NotDone;
use crate::place::Places;
use crate::server::Server;

const TABLE: &str = "penstock_offsets";

/// The sequences of one destination, on whatever machines it runs.
pub struct Offsets {
    name: String,
}

impl Offsets {
    /// Of the destination with this name.
    pub fn of(name: &str) -> Offsets {
        let may_stand = |c: char| c.is_ascii_alphanumeric() || "._-/:#".contains(c);
        Offsets { name: name.chars().take(120).map(|c| if may_stand(c) { c } else { '_' }).collect() }
    }

    /// The table is there from now on.
    pub async fn open<S: Server>(&self, server: &mut S) -> Result<(), NotDone> {
        if server.columns(TABLE).await?.is_some() {
            return Ok(());
        }
        let columns = "name varchar(120) NOT NULL, place varchar(250) NOT NULL, position bigint NOT NULL, \
                       PRIMARY KEY (name, place)";
        let made = server.execute(&format!("CREATE TABLE {TABLE} ({columns})")).await;
        // Another one of the group may have made it meanwhile.
        match made {
            Err(_) if server.columns(TABLE).await?.is_some() => Ok(()),
            made => made.map(drop).map_err(held),
        }
    }

    /// At the beginning of a transaction: what each of these sequences has reached. Until its end nobody else
    /// moves them.
    pub async fn reached<S: Server>(&self, server: &mut S, places: &Places) -> Result<Vec<u64>, NotDone> {
        let mut reached = vec![0; places.names.len()];
        // In the same order everywhere: two that wait for each other would wait for ever.
        let mut sorted: Vec<(&String, &mut u64)> = places.names.iter().zip(&mut reached).collect();
        sorted.sort_unstable();
        for (place, reached) in sorted {
            let of = self.of_place(place);
            let query = format!("SELECT position FROM {TABLE} WHERE {of}{}", S::LOCKS);
            match server.number(&query).await.map_err(held)? {
                Some(position) => *reached = position,
                None => {
                    let row = format!(
                        "INSERT INTO {TABLE} (name, place, position) VALUES ('{}', '{place}', 0)",
                        self.name
                    );
                    // One who has made it since then goes first.
                    server.execute(&row).await.map_err(|fault| match held(fault) {
                        NotDone::Hold(why) => NotDone::Busy(why),
                        fault => fault,
                    })?;
                }
            }
        }
        Ok(reached)
    }

    /// At the end of that transaction: they have reached this.
    pub async fn move_to<S: Server>(
        &self,
        server: &mut S,
        places: &Places,
        reached: &[u64],
    ) -> Result<(), NotDone> {
        for (place, position) in places.names.iter().zip(reached) {
            let moved = format!("UPDATE {TABLE} SET position = {position} WHERE {}", self.of_place(place));
            server.execute(&moved).await.map_err(held)?;
        }
        Ok(())
    }

    /// Neither name has anything that ends a text.
    fn of_place(&self, place: &str) -> String {
        format!("name = '{}' AND place = '{place}'", self.name)
    }
}

/// Nothing that is wrong here is a row's fault.
fn held(fault: NotDone) -> NotDone {
    match fault {
        NotDone::Row { why, .. } | NotDone::Rows(why) | NotDone::Table(why) => {
            NotDone::Hold(format!("{TABLE}: {why}"))
        }
        fault => fault,
    }
}
