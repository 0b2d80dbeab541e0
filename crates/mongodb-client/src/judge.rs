//! What the server's answer to an insert means for each of its documents.

use flight::{Outcome, Verdict};
use mongodb::bson::{Bson, Document};
use mongodb::error::{Error, ErrorKind};

/// What became of one command.
pub enum Judged {
    /// One for each document.
    Verdicts(Vec<Verdict>),
    Whole(Outcome),
}

/// A document with this id is there.
const DUPLICATE: [i32; 3] = [11000, 11001, 12582];
/// The server, or its part in the set, is changing: these pass.
const PASSING: [i32; 24] = [
    6, 7, 43, 46, 50, 63, 64, 79, 84, 89, 91, 112, 189, 262, 317, 358, 9001, 10058, 10107, 11600, 11602,
    13388, 13435, 13436,
];
/// Somebody has to do something first: a right, a login, a set without enough servers.
const HELD: [i32; 14] = [8, 11, 13, 18, 20, 31, 33, 59, 96, 100, 115, 166, 8000, 10003];
/// Bytes of the server's words that the log and the dead letters show.
const WORDS_BYTES_MAX: usize = 300;

fn words(code: i32, text: &str) -> String {
    let text: String =
        text.chars().take(WORDS_BYTES_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    match code {
        0 => text,
        code => format!("{code}: {text}"),
    }
}

fn number(document: &Document, name: &str) -> Option<i64> {
    match document.get(name)? {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        Bson::Double(number) => Some(*number as i64),
        _ => None,
    }
}

fn code(error: &Document) -> i32 {
    number(error, "code").and_then(|code| i32::try_from(code).ok()).unwrap_or_default()
}

fn text(error: &Document) -> String {
    words(code(error), error.get_str("errmsg").unwrap_or_default())
}

/// What an error of a code means when no document is at fault.
fn passing_or_held(code: i32, why: String) -> Option<Outcome> {
    match code {
        _ if PASSING.contains(&code) => Some(Outcome::Again { after: None, counts: false, why }),
        _ if HELD.contains(&code) => Some(Outcome::Hold(why)),
        _ => None,
    }
}

/// Whether it is the document itself that was there: its id, and no other index.
fn is_there(error: &Document) -> bool {
    let by_key = error.get_document("keyPattern").is_ok_and(|key| key.keys().eq(["_id"]));
    by_key || error.get_str("errmsg").is_ok_and(|text| text.contains("index: _id_ "))
}

/// The server has answered a command of so many documents.
pub fn answer(answer: &Document, documents: usize, unordered: bool) -> Judged {
    let mut verdicts = vec![Verdict::Delivered; documents];
    let mut troubled = None;
    for error in answer.get_array("writeErrors").into_iter().flatten().filter_map(Bson::as_document) {
        let Some(at) = number(error, "index").and_then(|at| usize::try_from(at).ok()) else { continue };
        let passes = passing_or_held(code(error), text(error));
        let verdict = match &passes {
            Some(_) => Verdict::Again,
            None if DUPLICATE.contains(&code(error)) && is_there(error) => Verdict::Delivered,
            None => Verdict::Refused(text(error).into()),
        };
        troubled = troubled.or(passes);
        if let Some(place) = verdicts.get_mut(at) {
            *place = verdict;
        }
        if !unordered {
            // Nothing behind it was tried.
            verdicts.iter_mut().skip(at + 1).for_each(|verdict| *verdict = Verdict::Again);
            break;
        }
    }
    if let Ok(error) = answer.get_document("writeConcernError") {
        // It is written, and not as safe as it is to be: written again, it is there already.
        let (code, why) = (code(error), text(error));
        let again = Outcome::Again { after: None, counts: false, why: why.clone() };
        return Judged::Whole(passing_or_held(code, why).unwrap_or(again));
    }
    match troubled {
        Some(outcome) if verdicts.iter().all(|verdict| *verdict == Verdict::Again) => Judged::Whole(outcome),
        _ => Judged::Verdicts(verdicts),
    }
}

/// The command has failed as a whole.
pub fn failure(error: &Error) -> Outcome {
    let why = words(0, &error.kind.to_string());
    match error.kind.as_ref() {
        ErrorKind::Command(said) => {
            let why = words(said.code, &said.message);
            match passing_or_held(said.code, why.clone()) {
                Some(outcome) => outcome,
                // A name that no collection can have.
                None if said.code == 73 => Outcome::Refused(why),
                None => Outcome::Again { after: None, counts: true, why },
            }
        }
        ErrorKind::Authentication { .. }
        | ErrorKind::InvalidTlsConfig { .. }
        | ErrorKind::InvalidArgument { .. }
        | ErrorKind::IncompatibleServer { .. } => Outcome::Hold(why),
        ErrorKind::ServerSelection { .. }
        | ErrorKind::ConnectionPoolCleared { .. }
        | ErrorKind::DnsResolve { .. } => Outcome::Away(why),
        _ => Outcome::Unknown(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::doc;

    fn check(said: Document, unordered: bool, expected: &[&str]) {
        let Judged::Verdicts(verdicts) = answer(&said, expected.len(), unordered) else { panic!("{said}") };
        let shown: Vec<&str> = verdicts
            .iter()
            .map(|verdict| match verdict {
                Verdict::Delivered => "there",
                Verdict::Refused(_) => "refused",
                Verdict::Again => "again",
                Verdict::Hold(_) => "hold",
            })
            .collect();
        assert_eq!(shown, expected, "{said}");
    }

    #[test]
    fn answers() {
        check(doc! { "ok": 1.0, "n": 2 }, false, &["there", "there"]);
        let bad = doc! { "index": 1, "code": 121, "errmsg": "Document failed validation" };
        check(doc! { "writeErrors": [bad.clone()] }, false, &["there", "refused", "again"]);
        check(doc! { "writeErrors": [bad.clone()] }, true, &["there", "refused", "there"]);
        let mine = doc! { "index": 0, "code": 11000, "errmsg": "E11000 duplicate key error collection: a.b index: _id_ dup key: { : 1 }" };
        check(doc! { "writeErrors": [mine.clone()] }, false, &["there", "again"]);
        let keyed = doc! { "index": 0, "code": 11000, "errmsg": "x", "keyPattern": { "_id": 1 } };
        check(doc! { "writeErrors": [keyed] }, true, &["there", "there"]);
        let other =
            doc! { "index": 0, "code": 11000, "errmsg": "E11000 index: n_1 dup", "keyPattern": { "n": 1 } };
        check(doc! { "writeErrors": [other, bad] }, true, &["refused", "refused"]);
        // Places that are none.
        check(doc! { "writeErrors": [{ "index": -1, "code": 1 }, { "index": 99 }, 5] }, true, &["there"]);
    }

    #[test]
    fn what_is_about_all_of_it() {
        let check = |said: Document, expected: &str| {
            let Judged::Whole(outcome) = answer(&said, 2, true) else { panic!("{said}") };
            assert!(format!("{outcome:?}").starts_with(expected), "{outcome:?}");
        };
        check(
            doc! { "writeConcernError": { "code": 64, "errmsg": "waiting for replication timed out" } },
            "Again",
        );
        check(
            doc! { "writeConcernError": { "code": 100, "errmsg": "Not enough data-bearing nodes" } },
            "Hold",
        );
        let gone = |at: i32| doc! { "index": at, "code": 10107, "errmsg": "not primary" };
        check(doc! { "writeErrors": [gone(0), gone(1)] }, "Again");
    }
}
