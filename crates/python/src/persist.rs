//! What classes want to be known after a restart: `syslogng.Persist`. The processes ask for it and change it
//! in the state file of the program, where it survives them.

use crate::marshal::{self, Item, Malformed, Reader};
use parking_lot::Mutex;
use state::Store;
use std::sync::Arc;

/// In front of the names in the state file.
const PREFIX: &str = "python.persist/";
/// Between the name of a Persist and the key of an entry.
const BEHIND_NAME: char = '\0';

static STORE: Mutex<Option<Arc<Store>>> = Mutex::new(None);

/// Where it is kept from now on. Before, as for `check`, it is forgotten with the program.
pub fn keep_in(store: &Arc<Store>) {
    *STORE.lock() = Some(Arc::clone(store));
}

fn store() -> Arc<Store> {
    Arc::clone(STORE.lock().get_or_insert_with(|| Arc::new(Store::in_memory())))
}

/// What a process is answered; `None` when it has not asked for this.
pub(crate) fn reply(question: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(question);
    let (Ok(Item::Tuple(count)), Ok(b"persist")) = (reader.item(), reader.text()) else { return None };
    Some(answer(count, &mut reader, &store()).unwrap_or_else(|Malformed| {
        let mut out = Vec::new();
        marshal::none(&mut out);
        out
    }))
}

/// A tuple with the value, or without one; the keys; a text that says which bound it is beyond; None for what
/// cannot be done.
fn answer(count: u32, reader: &mut Reader<'_>, store: &Store) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::new();
    let text = |reader: &mut Reader<'_>| match reader.item()? {
        Item::Text(text) => String::from_utf8(text.to_vec()).map_err(|_| Malformed),
        _ => Err(Malformed),
    };
    let what = text(reader)?;
    let name = text(reader)?;
    if name.contains(BEHIND_NAME) {
        return Err(Malformed);
    }
    let prefix = format!("{PREFIX}{name}{BEHIND_NAME}");
    match (&*what, count) {
        ("get", 4) => match store.get(format!("{prefix}{}", text(reader)?).as_bytes()) {
            Some(value) => {
                marshal::tuple(1, &mut out);
                out.extend_from_slice(&value);
            }
            None => marshal::tuple(0, &mut out),
        },
        ("set", 5) => {
            let key = format!("{prefix}{}", text(reader)?);
            let mut value = Vec::new();
            match reader.item()? {
                Item::Text(text) => {
                    marshal::text(std::str::from_utf8(text).map_err(|_| Malformed)?, &mut value)
                }
                Item::Bytes(bytes) => marshal::bytes(bytes, &mut value),
                Item::Int(number) => marshal::int(number, &mut value),
                _ => return Err(Malformed),
            }
            match store.try_put(key.as_bytes(), &value) {
                Ok(()) => marshal::tuple(0, &mut out),
                Err(too_much) => marshal::text(&too_much.to_string(), &mut out),
            }
        }
        ("remove", 4) => {
            store.remove(format!("{prefix}{}", text(reader)?).as_bytes());
            marshal::tuple(0, &mut out);
        }
        ("keys", 3) => {
            let all = store.with_prefix(prefix.as_bytes());
            marshal::list(all.len(), &mut out);
            for (name, _) in &all {
                let key = name.get(prefix.len()..).unwrap_or_default();
                marshal::text(&String::from_utf8_lossy(key), &mut out);
            }
        }
        _ => return Err(Malformed),
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(parts: &[&str], value: Option<i64>) -> Vec<u8> {
        let mut out = Vec::new();
        marshal::tuple(parts.len() + usize::from(value.is_some()), &mut out);
        parts.iter().for_each(|part| marshal::text(part, &mut out));
        value.into_iter().for_each(|value| marshal::int(value, &mut out));
        out
    }

    #[test]
    fn entries_are_set_found_listed_and_removed() {
        let store = Arc::new(Store::in_memory());
        keep_in(&store);
        let ask = |parts: &[&str], value| reply(&question(parts, value)).expect("an answer");
        let empty = b"(\0\0\0\0";
        assert_eq!(ask(&["persist", "get", "a", "k"], None), empty);
        assert_eq!(ask(&["persist", "set", "a", "k"], Some(5)), empty);
        assert_eq!(ask(&["persist", "set", "ab", "other"], Some(6)), empty);
        assert_eq!(ask(&["persist", "get", "a", "k"], None), b"(\x01\0\0\0i\x05\0\0\0");
        assert_eq!(ask(&["persist", "keys", "a"], None), b"[\x01\0\0\0u\x01\0\0\0k");
        assert_eq!(ask(&["persist", "remove", "a", "k"], None), empty);
        assert_eq!(ask(&["persist", "get", "a", "k"], None), empty);
        assert_eq!(ask(&["persist", "get", "a\0b", "k"], None), b"N");
        let long = ask(&["persist", "set", "a", &"k".repeat(9000)], Some(5));
        assert!(String::from_utf8_lossy(&long).contains("has at most 8192 bytes"), "{long:?}");
        assert_eq!(reply(&question(&["need", "HOST"], None)), None);
        let whole = question(&["persist", "set", "a", "k"], Some(1));
        (0..whole.len()).for_each(|cut| assert_ne!(reply(&whole[..cut]).as_deref(), Some(&empty[..])));
    }
}
