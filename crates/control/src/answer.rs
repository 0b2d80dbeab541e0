//! The reply to a request: what `syslog-ng-ctl` prints.

use oplog::Verbosity;
use serde_json::json;

use crate::counters::State;
use crate::refusal::Refusal;
use crate::render::{self, Format, Pattern};
use crate::request::{Credentials, Query, QueryAction, Request, Stats};
use crate::subject::{ConfigView, Health, Subject};

/// The reply without the closing line. Starts with `OK ` or `FAIL ` unless it is data.
pub fn answer(request: &Request, subject: &dyn Subject) -> String {
    match request {
        Request::Stats(options) => stats(*options, subject),
        Request::ResetStats => {
            subject.reset_counters(&|_| true);
            "OK The statistics have been reset to 0.".into()
        }
        Request::RemoveOrphans => {
            subject.remove_orphans();
            "OK Orphaned statistics have been removed.".into()
        }
        Request::Query(q) => query(q, subject),
        Request::LogFlag(flag, set) => log_flag(*flag, *set, subject),
        Request::LogLevel(set) => {
            if let Some(level) = set {
                subject.set_log_level(*level);
            }
            format!("OK {}", subject.log_level())
        }
        Request::Reload(reload) => outcome(subject.reload(reload)),
        Request::RollBack => outcome(subject.roll_back()),
        Request::Stop => {
            subject.stop();
            "OK Shutdown initiated".into()
        }
        Request::Reopen => {
            subject.reopen();
            "OK Re-open of log destination files initiated".into()
        }
        Request::Config(view @ (ConfigView::Original | ConfigView::Preprocessed)) => {
            subject.config(*view).unwrap_or_else(|refusal| refusal.reply())
        }
        Request::Config(view) => outcome(subject.config(*view)),
        Request::ListFiles => {
            let files = subject.list_files();
            if files.is_empty() { "OK No files available".into() } else { files.join("\n") }
        }
        Request::Graph => subject.graph(),
        Request::Health => health(&subject.healthcheck()),
        Request::License { json: false } => format!("OK {}", subject.license()),
        Request::License { json: true } => json!({ "license": subject.license() }).to_string(),
        Request::Ledger { json: false } => subject.ledger().to_table(),
        Request::Ledger { json: true } => subject.ledger().to_json(),
        Request::Credentials(Credentials::Status) => credentials(subject),
        Request::Credentials(Credentials::Add { id, secret }) => outcome(subject.add_credential(id, secret)),
        Request::Queue(request) => outcome(subject.queue(request)),
        Request::Tap(request) => subject.tap(request).unwrap_or_else(|refusal| refusal.reply()),
        Request::Capture(request) => outcome(subject.capture(request)),
        Request::Replay(request) => outcome(subject.replay(request)),
        Request::Profile(duration) => subject.profile(*duration).unwrap_or_else(|refusal| refusal.reply()),
        Request::Look(request) => subject.look(request).unwrap_or_else(|refusal| refusal.reply()),
        Request::Explain(request) => match subject.explain(request) {
            // JSON begins with its brace.
            Ok(text) if request.json => text,
            other => outcome(other),
        },
        // The server gives the whole connection away instead.
        Request::TakeOver(_) => Refusal::from("not on this connection").reply(),
        Request::Attach => {
            let why = "attach is not available: read the messages from the internal() source or start with --stderr; \
                 'log-level debug' shows more of them";
            Refusal::from(why).reply()
        }
    }
}

fn credentials(subject: &dyn Subject) -> String {
    let mut text = String::from("OK Secret store status:");
    for (file, state) in subject.credentials() {
        text.push_str(&format!("\n{file}\t{state}"));
    }
    text
}

fn outcome(result: Result<String, Refusal>) -> String {
    match result {
        Ok(text) => format!("OK {text}"),
        Err(refusal) => refusal.reply(),
    }
}

fn stats(options: Stats, subject: &dyn Subject) -> String {
    let mut counters = subject.counters();
    if options.without_orphaned {
        counters.retain(|c| c.state != State::Orphaned);
    }
    match options.format {
        Format::Csv => render::csv(&counters, !options.without_header),
        Format::Kv => render::kv(&counters),
        Format::Prometheus => render::prometheus(&counters, options.legacy),
    }
}

fn query(query: &Query, subject: &dyn Subject) -> String {
    let pattern = Pattern::new(&query.pattern);
    let mut selected = subject.counters();
    selected.retain(|c| pattern.selects(c));
    let mut reply = match (query.action, query.format) {
        _ if selected.is_empty() => String::new(),
        (QueryAction::List, _) => selected.iter().map(|c| render::one_line(&c.key()) + "\n").collect(),
        (QueryAction::Sum, _) => format!("{}\n", render::sum(&selected)),
        (QueryAction::Get, Format::Kv) => render::kv(&selected),
        (QueryAction::Get, Format::Csv) => render::csv(&selected, true),
        (QueryAction::Get, Format::Prometheus) => render::prometheus(&selected, true),
    };
    if query.reset {
        subject.reset_counters(&|c| pattern.selects(c));
        reply.push_str("\nThe selected counters have been reset to 0.\n");
    }
    reply
}

/// The three switches of old on the one scale of today: on raises to the level, off goes below it.
fn log_flag(flag: Verbosity, set: Option<bool>, subject: &dyn Subject) -> String {
    let current = subject.log_level();
    match set {
        Some(true) if current < flag => subject.set_log_level(flag),
        Some(false) if current >= flag => {
            let below = Verbosity::ALL.into_iter().filter(|v| *v < flag).max().unwrap_or_default();
            subject.set_log_level(below);
        }
        _ => {}
    }
    let on = u8::from(subject.log_level() >= flag);
    format!("OK {}={on}", flag.name().to_ascii_uppercase())
}

fn health(health: &Health) -> String {
    let mut reply = String::from(if health.is_healthy() { "OK " } else { "FAIL " });
    for complaint in &health.complaints {
        reply.push_str(complaint);
        reply.push('\n');
    }
    for (name, value) in &health.metrics {
        reply.push_str(&render::sample_line(name, &[], &value.to_string()));
    }
    reply
}

#[cfg(test)]
mod tests;
