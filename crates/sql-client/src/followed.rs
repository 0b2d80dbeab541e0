//! Messages of a batch that somebody follows: which tables they are in, and what the server calls their rows.

use crate::server::{About, Keys};

#[derive(Debug, Default)]
pub struct Followed {
    /// Places in the batch, ascending.
    places: Vec<u32>,
    /// Those that are in a table of the transaction.
    found: Vec<(u32, Vec<About>)>,
    pub transaction: Option<u64>,
}

impl Followed {
    pub fn new(places: Vec<usize>) -> Followed {
        let mut places: Vec<u32> = places.into_iter().filter_map(|place| u32::try_from(place).ok()).collect();
        places.sort_unstable();
        Followed { places, ..Followed::default() }
    }

    /// What a server is asked of rows that come from these places.
    pub fn asks(&self, places: &[u32]) -> Keys {
        if self.places.is_empty() {
            return Keys::default();
        }
        let is_followed = |(_, place): &(usize, &u32)| self.places.binary_search(place).is_ok();
        let asked = places.iter().enumerate().filter(is_followed).map(|(at, _)| at).collect();
        Keys { asked, said: Vec::new() }
    }

    /// Rows that come from these places are in a table.
    pub fn are_in(&mut self, table: &str, places: &[u32], keys: Keys) {
        for at in keys.asked {
            let Some(place) = places.get(at) else { continue };
            let mut about = vec![("table", table.into())];
            about.extend(keys.said.iter().filter(|(said, _)| *said == at).map(|(_, key)| key.clone()));
            self.found.push((*place, about));
        }
    }

    pub fn is_anywhere(&self) -> bool {
        !self.found.is_empty()
    }

    /// The transaction came to nothing.
    pub fn are_nowhere(&mut self) {
        self.found.clear();
        self.transaction = None;
    }

    /// Where the message at this place is.
    pub fn place(&self, at: usize) -> Option<Vec<About>> {
        let found = self.found.iter().rev().find(|(place, _)| *place as usize == at)?;
        let transaction = self.transaction.map(|number| ("transaction", number.into()));
        Some(found.1.iter().cloned().chain(transaction).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_known_by_their_places() {
        let mut followed = Followed::new(vec![7, 2]);
        let mut keys = followed.asks(&[1, 2, 7]);
        assert_eq!(keys.asked, [1, 2]);
        assert!(Followed::default().asks(&[1, 2, 7]).asked.is_empty());
        keys.said.push((2, ("rowid", 40.into())));
        followed.are_in("t", &[1, 2, 7], keys);
        followed.transaction = Some(9);
        let about = |rowid: Option<u64>| {
            let rowid = rowid.map(|number| ("rowid", number.into()));
            let all = [("table", "t".into())].into_iter().chain(rowid).chain([("transaction", 9.into())]);
            Some(all.collect::<Vec<About>>())
        };
        assert_eq!(
            (followed.place(2), followed.place(7), followed.place(1)),
            (about(None), about(Some(40)), None)
        );
        followed.are_nowhere();
        assert_eq!((followed.place(7), followed.is_anywhere()), (None, false));
    }
}
