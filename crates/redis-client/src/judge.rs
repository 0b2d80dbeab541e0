//! What a reply means for the message whose command it answers.

use crate::reply::Reply;

#[derive(Debug, PartialEq, Eq)]
pub enum Judged {
    Delivered,
    /// The server's words.
    Refused(String),
    Again(String),
    /// Somebody has to do something first.
    Hold(String),
}

/// Errors that are about the state of the server.
const PASSING: &[&str] = &[
    "ASK",
    "BUSY",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "MOVED",
    "NOREPLICAS",
    "OOM",
    "READONLY",
    "TRYAGAIN",
    "UNKILLABLE",
];
/// Those about the login and its rights.
const HELD: &[&str] = &["NOAUTH", "NOPERM", "WRONGPASS", "DENIED", "NOPROTO"];
/// That about rights, and what it says where they are missing for a key or a channel.
const RIGHTS: &str = "NOPERM";
const OF_A_KEY: &[&str] =
    &["keys used as arguments", "access a key", "channels used as arguments", "access a channel"];
/// A script that the server has lost, as it does when it is started anew.
const LOST_SCRIPT: &str = "NOSCRIPT";
/// Errors whose first word is `ERR`, and which no message can be the cause of when the command is the same
/// for all of them.
const ABOUT_THE_COMMAND: &[&str] = &["unknown command", "wrong number of arguments", "unknown subcommand"];
/// The same that pass.
const PASSING_WORDS: &[&str] = &["max number of clients"];
/// Bytes of an error that the log and the dead letters show.
const WORDS_BYTES_MAX: usize = 300;

/// What is the same for all messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Same {
    /// The name of the command.
    pub command: bool,
    /// Its first argument, which is a key for nearly all commands.
    pub key: bool,
}

pub fn judge(reply: &Reply<'_>, same: Same) -> Judged {
    let Reply::Error(line) = reply else { return Judged::Delivered };
    let words: String = String::from_utf8_lossy(line.get(..WORDS_BYTES_MAX).unwrap_or(line))
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let (first, rest) = words.split_once(' ').unwrap_or((&words, ""));
    let has = |list: &[&str]| list.iter().any(|text| rest.contains(text));
    match first {
        _ if PASSING.contains(&first) => Judged::Again(words),
        RIGHTS if !same.key && has(OF_A_KEY) => Judged::Refused(words),
        LOST_SCRIPT if same.command => Judged::Hold(words),
        _ if HELD.contains(&first) => Judged::Hold(words),
        "ERR" if has(PASSING_WORDS) => Judged::Again(words),
        "ERR" if same.command && has(ABOUT_THE_COMMAND) => Judged::Hold(words),
        _ => Judged::Refused(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors() {
        let check = |text: &str, fixed, expected: fn(String) -> Judged| {
            let same = Same { command: fixed, key: fixed };
            assert_eq!(judge(&Reply::Error(text.as_bytes()), same), expected(text.to_owned()), "{text}");
        };
        for text in [
            "MOVED 3999 127.0.0.1:6381",
            "LOADING Redis is loading the dataset in memory",
            "READONLY You can't write against a read only replica.",
            "OOM command not allowed when used memory > 'maxmemory'.",
            "BUSY Redis is busy running a script.",
            "TRYAGAIN Multiple keys request during rehashing of slot",
            "MASTERDOWN Link with MASTER is down",
            "ERR max number of clients reached",
        ] {
            check(text, true, Judged::Again);
        }
        for text in ["NOAUTH Authentication required.", "WRONGPASS invalid", "NOPERM no permissions"] {
            check(text, true, Judged::Hold);
        }
        check("WRONGTYPE Operation against a key holding the wrong kind of value", true, Judged::Refused);
        check("ERR value is not an integer or out of range", true, Judged::Refused);
        check("ERR unknown command 'LOG', with args", true, Judged::Hold);
        check("ERR unknown command 'LOG', with args", false, Judged::Refused);
        check("", true, Judged::Refused);
        let script = "NOSCRIPT No matching script. Please use EVAL.";
        check(script, true, Judged::Hold);
        check(script, false, Judged::Refused);
        // Of Redis 7.0 and of later ones.
        for text in [
            "NOPERM this user has no permissions to access one of the keys used as arguments",
            "NOPERM No permissions to access a key",
        ] {
            check(text, true, Judged::Hold);
            check(text, false, Judged::Refused);
        }
        check("NOPERM User u has no permissions to run the 'set' command", false, Judged::Hold);
        assert_eq!(judge(&Reply::Good(b""), Same { command: true, key: true }), Judged::Delivered);
    }
}
