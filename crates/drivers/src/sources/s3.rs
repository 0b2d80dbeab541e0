//! `s3()`: the objects of a bucket, read line by line; each is finished when its messages are dealt with.

mod metadata;
mod port;
mod table;

use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use driver_options::Reading as Options;
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Need, Shared};
use http_client::Url;
use intake::files::TailOptions;
use intake::multi_line::multi_line;
use intake::reading::{Defaults, Reading};
use metadata::{Metadata, PREFIX};
use pattern::{Kind, Pattern, PatternOptions};
use port::{ObjectPort, Parts};
use record::Context;
use s3_client::Server;
use s3_client::pull::{Afterwards, Board, Packed, Pull, Puller, Queue, Rule};
use std::sync::Arc;
use std::time::Duration;
use template::TemplateOptions;
use wire::Framing;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&table::S3, build)];

/// The code of what is wrong with its options.
const CODE: &str = "D0261";

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let templates = TemplateOptions::default();
    let mut r = Options { s, templates: &templates, cx, code: CODE, diags };
    let pull = pull(&mut r)?;
    let readers = s.int("download-threads").and_then(|n| usize::try_from(n).ok()).unwrap_or(4).max(1);
    let defaults =
        Defaults { framing: Framing::Lines, syslog_protocol: false, expect_hostname: true, local: true };
    let mut reading = Reading::new(s, cx, &defaults, diags);
    reading.share_window(readers, cx.globals);
    let multi_line = multi_line(s, diags)?;
    let is_stored = s.bool("store-metadata").unwrap_or(true);
    if is_stored {
        cx.scope.sets(PREFIX);
    }
    let Pull { server, prefix, .. } = &pull;
    let told = pull.queue.as_ref().map(|queue| format!(",{}", queue.name)).unwrap_or_default();
    let address = format!("{},{},{prefix}{told}", server.url, server.bucket);
    let key = reading.persist_name.clone().unwrap_or_else(|| format!("s3_sd({address})"));
    let described = multi_line.as_ref().map(|(_, text)| text.clone()).unwrap_or_default();
    let context = Context::local(cx.group, &reading.local_name, "local+s3");
    let bucket = server.bucket.clone();
    let start = S3Start {
        opened_with: format!("{readers} {is_stored} {described} {} {}", reading.fixed(), opened_with(&pull)),
        pull: Arc::new(pull),
        readers,
        tail: Arc::new(TailOptions {
            framing: reading.framing,
            multi_line: multi_line.map(|(mode, _)| mode),
            encoding: reading.encoding,
        }),
        fetch_limit: reading.fetch_limit,
        metadata: Metadata::new(&bucket, is_stored, context),
        key: key.clone(),
    };
    let (syslog, finish, share) = (reading.syslog.clone(), reading.finish.clone(), reading.share);
    Ok(SourceDriver {
        key,
        opened_with: start.opened_with.clone(),
        driver: "s3",
        instance: format!("s3,{address}"),
        carrier: Carrier::Other,
        settings: Box::new(move |program| {
            SourceSettings::new(syslog.clone(), finish.clone(), program).shared(share)
        }),
        start: Box::new(start),
    })
}

fn pull(r: &mut Options<'_>) -> Result<Pull, Reported> {
    let s = r.s;
    let server = Arc::new(s3_client::options::server(r)?);
    let text = |name: &str| s.text(name).unwrap_or_default().to_owned();
    let (prefix, move_prefix) = (text("prefix"), text("move-prefix"));
    let afterwards = match (s.choice("when-read"), move_prefix.is_empty()) {
        (Some("move"), true) => {
            return r.wrong(
                "when-read",
                "when-read(move) does not say where to",
                "add `move-prefix(\"read/\")`",
            );
        }
        (Some("move"), false) if move_prefix.starts_with(&prefix) => {
            let text = "what is moved would be read again: move-prefix() begins with prefix()";
            return r.wrong(
                "move-prefix",
                text,
                "give the objects a prefix(), and another one to those that were read",
            );
        }
        (Some("move"), false) => Afterwards::Move(move_prefix),
        (_, false) => {
            return r.wrong(
                "move-prefix",
                "nothing is moved without when-read(move)",
                "add it, or leave move-prefix() out",
            );
        }
        (Some("delete"), true) => Afterwards::Delete,
        (_, true) => Afterwards::Keep,
    };
    let names = match s.text("object-pattern").filter(|text| !text.is_empty()) {
        None => None,
        Some(text) => {
            let options = PatternOptions { kind: Kind::Glob, ..PatternOptions::default() };
            match Pattern::compile(text, &options) {
                Ok(pattern) => Some(pattern),
                Err(error) => return r.wrong("object-pattern", format!("{error}"), "write `\"*.log.gz\"`"),
            }
        }
    };
    let queue = queue(&server, r)?;
    Ok(Pull {
        server,
        queue,
        prefix,
        start_after: text("start-after"),
        names,
        is_ascending: s.choice("object-order") == Some("ascending"),
        packed: match s.choice("compression") {
            Some("none") => Packed::None,
            Some("gzip") => Packed::Gzip,
            Some("zstd") => Packed::Zstd,
            _ => Packed::Auto,
        },
        afterwards,
        holds_unreadable: s.choice("unreadable") == Some("hold"),
        reads_old: s.bool("read-old-records").unwrap_or(true),
        period: s.seconds("follow-freq").unwrap_or(Duration::from_secs(30)),
        pause_max: s.seconds("time-reopen").unwrap_or(Duration::from_secs(60)),
    })
}

fn queue(server: &Server, r: &mut Options<'_>) -> Result<Option<Arc<Queue>>, Reported> {
    let s = r.s;
    let ack_deadline = s.seconds("ack-deadline").unwrap_or(Duration::from_secs(300));
    let Some(name) = s.text("sqs-url").filter(|name| !name.is_empty()) else {
        if let Some(at) = s.span("ack-deadline").filter(|_| s.is_set("ack-deadline")) {
            let finding = Diagnostic::warning(CODE, "ack-deadline() without sqs-url() has no effect", at);
            r.diags.push(finding.help("add it, or leave ack-deadline() out"));
        }
        return Ok(None);
    };
    for option in ["follow-freq", "object-order", "read-old-records"] {
        if let Some(at) = s.span(option).filter(|_| s.is_set(option)) {
            let text = format!("{option}() beside sqs-url() has no effect: the bucket is not looked through");
            r.diags.push(Diagnostic::warning(CODE, text, at).help("leave one of them out"));
        }
    }
    let url = match Url::parse(name) {
        Ok(url) => url,
        Err(error) => {
            let help = "write `sqs-url(\"https://sqs.REGION.amazonaws.com/ACCOUNT/NAME\")`";
            return r.wrong("sqs-url", error, help);
        }
    };
    let mut words = url.host.split('.');
    // That of the name where it says one.
    let region = match (words.next(), words.next()) {
        (Some("sqs"), Some(region)) if url.host.contains(".amazonaws.") => region.to_owned(),
        _ => server.region.clone(),
    };
    Ok(Some(Arc::new(Queue { url, name: name.to_owned(), region, ack_deadline })))
}

/// Differs where reading has to begin anew.
fn opened_with(pull: &Pull) -> String {
    let Pull { server, prefix, start_after, is_ascending, packed, afterwards, .. } = pull;
    let names = pull.names.as_ref().map(Pattern::text);
    let queue = pull.queue.as_ref().map(|queue| (&queue.name, queue.ack_deadline));
    let rest = (pull.holds_unreadable, pull.period, pull.pause_max, queue);
    format!(
        "{} {prefix:?} {start_after:?} {names:?} {is_ascending} {packed:?} {afterwards:?} {rest:?}",
        server.described
    )
}

struct S3Start {
    opened_with: String,
    pull: Arc<Pull>,
    readers: usize,
    tail: Arc<TailOptions>,
    fetch_limit: Option<usize>,
    metadata: Metadata,
    key: String,
}

impl Start for S3Start {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let rule =
            Rule { goes: self.pull.afterwards != Afterwards::Keep, is_ascending: self.pull.is_ascending };
        let (board, turn) = Board::open(shared.state(), &self.key, rule);
        for reader in 0..self.readers {
            let mut others = Vec::new();
            if reader == 0 {
                others.push(Puller::finder(&self.pull, (&board, turn)));
                others.extend(Puller::answerer(&self.pull, (&board, turn)));
            }
            others.extend(Puller::remover(&self.pull, (&board, turn)));
            let parts = Parts {
                pull: Arc::clone(&self.pull),
                board: Arc::clone(&board),
                turn,
                others,
                answers: reader == 0 && self.pull.queue.is_some(),
                tail: Arc::clone(&self.tail),
                metadata: self.metadata.clone(),
                fetch_limit: self.fetch_limit,
                source: Arc::clone(source),
            };
            shared.any_worker()?.add(move |token, cx| Ok(Box::new(ObjectPort::new(parts, cx, token))));
        }
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}
