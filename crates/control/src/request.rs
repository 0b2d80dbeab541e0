//! One line of the control protocol as a request.

use std::time::Duration;

use oplog::Verbosity;

use crate::capture::{CaptureRequest, ReplayRequest};
use crate::explain::ExplainRequest;
use crate::look::LookRequest;
use crate::queues::QueueRequest;
use crate::refusal::Refusal;
use crate::render::Format;
use crate::subject::ConfigView;
use crate::tap::TapRequest;

/// A request the program understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    Stats(Stats),
    ResetStats,
    RemoveOrphans,
    Query(Query),
    /// The three older switches; `None` asks.
    LogFlag(Verbosity, Option<bool>),
    LogLevel(Option<Verbosity>),
    /// `RELOAD [SECONDS] [DROP DESTINATION]...`
    Reload(Reload),
    /// What ran before is put into effect again.
    RollBack,
    Stop,
    Reopen,
    Config(ConfigView),
    ListFiles,
    Graph,
    Health,
    License {
        json: bool,
    },
    Ledger {
        json: bool,
    },
    Credentials(Credentials),
    Attach,
    /// `QUEUE ...`: queues on disk.
    Queue(QueueRequest),
    /// `EXPLAIN ...`: what happens to single messages.
    Explain(ExplainRequest),
    /// `TAP ...`: the last messages that were dropped.
    Tap(TapRequest),
    /// `LOOK ...`: messages that come by a place.
    Look(LookRequest),
    /// `CAPTURE ...`: what comes, as it was received.
    Capture(CaptureRequest),
    /// `REPLAY ...`: what came before, again.
    Replay(ReplayRequest),
    /// `PROFILE SECONDS`
    Profile(Duration),
    /// `TAKE_OVER SECONDS`: another process takes the place of this one. The rest of the connection is
    /// [`crate::take_over`]'s.
    TakeOver(Duration),
}

/// `STATS [CSV|KV|PROMETHEUS] [WITH_LEGACY] [WITHOUT_ORPHANED] [WITHOUT_HEADER]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    pub format: Format,
    pub legacy: bool,
    pub without_orphaned: bool,
    pub without_header: bool,
}

/// `QUERY LIST|GET[_SUM][_RESET][_CSV|_KV|_PROMETHEUS] PATTERN`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub action: QueryAction,
    pub reset: bool,
    pub format: Format,
    pub pattern: String,
}

/// `PWD ADD FILE SECRET` and `PWD STATUS`
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    Add { id: String, secret: String },
    Status,
}

/// A secret is not for anybody's log.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Credentials::Add { id, .. } => write!(f, "Add {id}"),
            Credentials::Status => f.write_str("Status"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryAction {
    List,
    Get,
    Sum,
}

/// What a reload is asked to do differently.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reload {
    /// How long the configuration is on trial, where that differs from the usual.
    pub trial: Option<Duration>,
    /// Destinations that may be removed though messages wait there which cannot be kept.
    pub drops: Vec<String>,
}

impl Reload {
    fn parse(text: &str) -> Result<Reload, Refusal> {
        let mut reload = Reload::default();
        let mut words = text.split_whitespace().peekable();
        if let Some(seconds) = words.next_if(|word| !word.eq_ignore_ascii_case("DROP")) {
            reload.trial = Some(Duration::from_secs(seconds.parse().map_err(|_| invalid(text))?));
        }
        while let Some(word) = words.next() {
            let name = words.next().filter(|_| word.eq_ignore_ascii_case("DROP"));
            reload.drops.push(name.ok_or_else(|| invalid(text))?.to_owned());
        }
        Ok(reload)
    }
}

impl Request {
    /// Words are upper case by custom; case is not held against anybody. What is not understood is refused.
    pub fn parse(line: &str) -> Result<Request, Refusal> {
        let line = line.trim();
        let (word, rest) = split(line);
        Ok(match word.to_ascii_uppercase().as_str() {
            "STATS" => Request::Stats(stats(rest)?),
            "RESET_STATS" => alone(rest, Request::ResetStats)?,
            "REMOVE_ORPHANED_STATS" => alone(rest, Request::RemoveOrphans)?,
            "QUERY" => Request::Query(query(rest)?),
            "LOG" => log(rest)?,
            "RELOAD" => Request::Reload(Reload::parse(rest)?),
            "ROLL_BACK" => alone(rest, Request::RollBack)?,
            "STOP" => alone(rest, Request::Stop)?,
            "REOPEN" => alone(rest, Request::Reopen)?,
            "CONFIG" => Request::Config(config(rest)?),
            "LISTFILES" => alone(rest, Request::ListFiles)?,
            "EXPORT_CONFIG_GRAPH" => alone(rest, Request::Graph)?,
            "HEALTHCHECK" => alone(rest, Request::Health)?,
            "LICENSE" => Request::License { json: json_flag(rest)? },
            "LEDGER" => Request::Ledger { json: json_flag(rest)? },
            "PWD" => Request::Credentials(credentials(rest)?),
            "ATTACH" => Request::Attach,
            "QUEUE" => Request::Queue(QueueRequest::parse(rest)?),
            "LOOK" => Request::Look(LookRequest::parse(rest)?),
            "TAP" => Request::Tap(TapRequest::parse(rest)?),
            "EXPLAIN" => Request::Explain(ExplainRequest::parse(rest)?),
            "CAPTURE" => Request::Capture(CaptureRequest::parse(rest)?),
            "REPLAY" => Request::Replay(ReplayRequest::parse(rest)?),
            "PROFILE" => match rest.parse() {
                Ok(seconds @ 1..=3600) => Request::Profile(Duration::from_secs(seconds)),
                _ => return Err(invalid(rest)),
            },
            "TAKE_OVER" => Request::TakeOver(Duration::from_secs(rest.parse().map_err(|_| invalid(rest))?)),
            "" => return Err("empty command".into()),
            _ => return Err(format!("unknown command '{}'", shown(word)).into()),
        })
    }
}

/// Foreign words are quoted short and without control characters.
fn shown(word: &str) -> String {
    word.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    }
}

fn alone(rest: &str, request: Request) -> Result<Request, Refusal> {
    if rest.is_empty() { Ok(request) } else { Err(invalid(rest)) }
}

fn invalid(argument: &str) -> Refusal {
    Refusal::Failed(format!("invalid argument '{}'", shown(argument)))
}

fn json_flag(rest: &str) -> Result<bool, Refusal> {
    match rest {
        "" => Ok(false),
        word if word.eq_ignore_ascii_case("JSON") => Ok(true),
        word => Err(invalid(word)),
    }
}

fn stats(rest: &str) -> Result<Stats, Refusal> {
    let mut stats = Stats::default();
    for word in rest.split_whitespace() {
        match word.to_ascii_uppercase().as_str() {
            "WITH_LEGACY" | "WITH_LEGACY_METRICS" => stats.legacy = true,
            "WITHOUT_ORPHANED" | "WITHOUT_ORPHANED_METRICS" => stats.without_orphaned = true,
            "WITHOUT_HEADER" | "NO_HEADER" => stats.without_header = true,
            _ => stats.format = Format::from_name(word).ok_or_else(|| invalid(word))?,
        }
    }
    Ok(stats)
}

fn query(rest: &str) -> Result<Query, Refusal> {
    let (verb, pattern) = split(rest);
    let upper = verb.to_ascii_uppercase();
    let mut parts = upper.split('_');
    let action = match parts.next() {
        Some("LIST") => QueryAction::List,
        Some("GET") => QueryAction::Get,
        _ => return Err(format!("unknown query '{}', expected LIST or GET", shown(verb)).into()),
    };
    let mut query = Query { action, reset: false, format: Format::Kv, pattern: pattern.to_owned() };
    for part in parts {
        match part {
            "SUM" if query.action == QueryAction::Get => query.action = QueryAction::Sum,
            "RESET" => query.reset = true,
            part => query.format = Format::from_name(part).ok_or_else(|| invalid(verb))?,
        }
    }
    Ok(query)
}

fn credentials(rest: &str) -> Result<Credentials, Refusal> {
    let (verb, rest) = split(rest);
    match verb.to_ascii_uppercase().as_str() {
        "ADD" => match split(rest) {
            ("", _) | (_, "") => Err("expected the name of a key file and its passphrase".into()),
            (id, secret) => Ok(Credentials::Add { id: id.to_owned(), secret: secret.to_owned() }),
        },
        "STATUS" if rest.is_empty() => Ok(Credentials::Status),
        _ => Err(invalid(verb)),
    }
}

fn log(rest: &str) -> Result<Request, Refusal> {
    let (which, value) = split(rest);
    let flag = match which.to_ascii_uppercase().as_str() {
        "LEVEL" if value.is_empty() => return Ok(Request::LogLevel(None)),
        "LEVEL" => return Ok(Request::LogLevel(Some(value.parse()?))),
        "VERBOSE" => Verbosity::Verbose,
        "DEBUG" => Verbosity::Debug,
        "TRACE" => Verbosity::Trace,
        _ => return Err(invalid(which)),
    };
    let set = match value.to_ascii_uppercase().as_str() {
        "" => None,
        "ON" | "1" => Some(true),
        "OFF" | "0" => Some(false),
        _ => return Err(invalid(value)),
    };
    Ok(Request::LogFlag(flag, set))
}

fn config(rest: &str) -> Result<ConfigView, Refusal> {
    let words: Vec<String> = rest.split_whitespace().map(str::to_ascii_uppercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["GET", "ORIGINAL"] => Ok(ConfigView::Original),
        ["GET", "PREPROCESSED"] => Ok(ConfigView::Preprocessed),
        ["VERIFY"] => Ok(ConfigView::Verify),
        ["DIFF"] => Ok(ConfigView::Difference),
        ["ID"] | ["GET", "ID"] => Ok(ConfigView::Id),
        _ => Err(format!(
            "invalid arguments '{}', expected GET ORIGINAL, GET PREPROCESSED, VERIFY, DIFF or ID",
            shown(rest)
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Request) {
        assert_eq!(Request::parse(line), Ok(expected), "{line}");
    }

    #[test]
    fn every_request_word() {
        check("STATS", Request::Stats(Stats::default()));
        check("RESET_STATS\r", Request::ResetStats);
        check("REMOVE_ORPHANED_STATS", Request::RemoveOrphans);
        check("RELOAD", Request::Reload(Reload::default()));
        let trial = Some(Duration::from_secs(10));
        check("RELOAD 10", Request::Reload(Reload { trial, drops: Vec::new() }));
        let drops = vec!["d".to_owned(), "e#0".to_owned()];
        check("RELOAD DROP d DROP e#0", Request::Reload(Reload { trial: None, drops: drops.clone() }));
        check("RELOAD 10 DROP d DROP e#0", Request::Reload(Reload { trial, drops }));
        for wrong in ["now", "DROP", "10 20", "DROP d e"] {
            assert!(Request::parse(&format!("RELOAD {wrong}")).is_err(), "{wrong}");
        }
        check("STOP", Request::Stop);
        check("REOPEN", Request::Reopen);
        check("LISTFILES", Request::ListFiles);
        check("EXPORT_CONFIG_GRAPH", Request::Graph);
        check("HEALTHCHECK", Request::Health);
        check("LICENSE", Request::License { json: false });
        check("LICENSE JSON", Request::License { json: true });
        check("ledger json", Request::Ledger { json: true });
        let add = Credentials::Add { id: "/k.pem".into(), secret: "se cret".into() };
        check("PWD add /k.pem se cret", Request::Credentials(add));
        check("PWD status", Request::Credentials(Credentials::Status));
        assert!(Request::parse("PWD add /k.pem").is_err() && Request::parse("PWD x").is_err());
        check("ATTACH STDIO 3", Request::Attach);
        check("TAKE_OVER 30", Request::TakeOver(Duration::from_secs(30)));
        assert!(Request::parse("TAKE_OVER soon").is_err());
        check("CONFIG GET ORIGINAL", Request::Config(ConfigView::Original));
        check("CONFIG GET PREPROCESSED", Request::Config(ConfigView::Preprocessed));
        check("CONFIG VERIFY ", Request::Config(ConfigView::Verify));
        check("CONFIG ID", Request::Config(ConfigView::Id));
    }

    #[test]
    fn statistics_options() {
        let stats = Stats { format: Format::Prometheus, legacy: true, ..Stats::default() };
        check("STATS PROMETHEUS WITH_LEGACY", Request::Stats(stats));
        let stats =
            Stats { without_orphaned: true, without_header: true, format: Format::Csv, legacy: false };
        check("STATS CSV WITHOUT_ORPHANED WITHOUT_HEADER", Request::Stats(stats));
    }

    #[test]
    fn queries() {
        let check = |line: &str, action, reset, format, pattern: &str| {
            check(line, Request::Query(Query { action, reset, format, pattern: pattern.into() }));
        };
        check("QUERY LIST *", QueryAction::List, false, Format::Kv, "*");
        check("QUERY LIST ", QueryAction::List, false, Format::Kv, "");
        check("QUERY LIST_RESET x", QueryAction::List, true, Format::Kv, "x");
        check("QUERY GET dst.file.a b*", QueryAction::Get, false, Format::Kv, "dst.file.a b*");
        check("QUERY GET_SUM_RESET x", QueryAction::Sum, true, Format::Kv, "x");
        check("QUERY GET_PROMETHEUS x", QueryAction::Get, false, Format::Prometheus, "x");
    }

    #[test]
    fn log_levels() {
        check("LOG VERBOSE", Request::LogFlag(Verbosity::Verbose, None));
        check("LOG TRACE OFF", Request::LogFlag(Verbosity::Trace, Some(false)));
        check("LOG DEBUG 1", Request::LogFlag(Verbosity::Debug, Some(true)));
        check("LOG LEVEL", Request::LogLevel(None));
        check("LOG LEVEL DEBUG", Request::LogLevel(Some(Verbosity::Debug)));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let check = |line: &str, part: &str| {
            let error = Request::parse(line).expect_err(line);
            assert!(error.said().contains(part), "{line}: {error}");
        };
        check("", "empty");
        check("BOGUS \u{1}", "'BOGUS'");
        check("BO\u{1}GUS", "'BO?GUS'");
        check("STATS XML", "'XML'");
        check("QUERY", "LIST or GET");
        check("QUERY LIST_SUM x", "LIST_SUM");
        check("CONFIG", "VERIFY");
        check("CONFIG GET", "VERIFY");
        check("LOG", "''");
        check("LOG LEVEL LOUD", "LOUD");
        check("LOG VERBOSE MAYBE", "MAYBE");
        check("STOP now", "'now'");
        check("LEDGER XML", "'XML'");
        check(&"x".repeat(1000), "'xxxx");
        assert!(Request::parse(&"x".repeat(1000)).unwrap_err().said().len() < 100);
    }
}
