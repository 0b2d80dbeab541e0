//! `mongodb()`: messages as documents of MongoDB, a batch in one insert.

mod table;

use conf_schema::Settings;
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics, Reported, Span};
use driver_options::templates::compile;
use driver_options::{pairs, ports};
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use guest::{Line, Seat};
use mongodb_client::{Concern, Deployment, Inserts, Target, load, serve};
use std::sync::Arc;
use template::value_pairs::{Rekey, Step};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::MONGODB, build)];

/// Bytes of a batch when batch-bytes() does not say.
const BATCH_BYTES: usize = 8 << 20;

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    if batching.limits.bytes == 0 {
        batching.limits.bytes = BATCH_BYTES;
    }
    if !s.bool("bulk").unwrap_or(true) {
        batching.limits.lines = 1;
    }
    let target = target(s, diags)?;
    let named = s.template("collection").map(|text| (text.text.clone(), text.span));
    let (collection, at) = named.or_else(|| Some(("messages".to_owned(), s.call_span()?)))?;
    let template = compile(&collection, at, &options, cx, diags)?;
    // No name of a field begins with a dot.
    let dots = [Rekey { glob: ".*".into(), steps: vec![Step::ReplacePrefix(".".into(), "_".into())] }];
    let values = pairs::read_or_usual(s, &dots, &options, cx, diags)?;
    let mut writer = Writer::new(template, cx.identity);
    writer.parts = Some(Fields::with_id(Vec::new(), vec![values]));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let address = format!("{},{},{collection}", target.place.hosts, target.place.database);
    let key = writing::key(s, &mut writer, || format!("mongodb({address})"));
    batching.limits.answer = Some(target.place.answer_max);
    let (name, target) = (cx.id(), Arc::new(target));
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let seat = Seat { home: place.home.clone(), outlet: place.id };
        let (of_load, of_guest) = (Arc::clone(&target), Arc::clone(&target));
        let load = move |part: &flight::Part<'_>| load(&of_load, part);
        let line: Line<Inserts> =
            Line::open(seat, &name, limits.away, load, move |jobs| serve(Arc::clone(&of_guest), jobs));
        Box::new(FlightSink::new(line, limits, name.clone(), place.id, &place.counters))
    });
    let described = ("mongodb", format!("mongodb,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}

fn wrong<T>(text: String, at: Span, help: &str, diags: &mut Diagnostics) -> Option<T> {
    diags.push(Diagnostic::error("D0300", text, at).help(help.to_owned()));
    None
}

/// `None` after an error was reported.
fn target(s: &Settings, diags: &mut Diagnostics) -> Option<Target> {
    let old = old_uri(s, diags).ok()?;
    let own = s.text("uri").unwrap_or(table::URI);
    let (uri, at) = match &old {
        Some((uri, at)) => (uri.as_str(), *at),
        None => (own, s.span("uri")?),
    };
    let place = match Deployment::parse(uri) {
        Ok(place) => place,
        Err(error) => {
            let help = "write `uri(\"mongodb://host:27017/database\")`";
            return wrong(format!("wrong address of MongoDB: {error}"), at, help, diags);
        }
    };
    let mut concern = place.concern();
    let safe = s.bool("safe-mode").map(|safe| if safe { "acked" } else { "unacked" });
    if let Some(word) = s.text("write-concern").or(safe) {
        match Concern::nodes(word) {
            Some(nodes) => concern.nodes = Some(nodes),
            None => {
                let help = "there are `unacked`, `acked`, `majority`, and numbers up to 50";
                return wrong(format!("`{word}` is no write concern"), s.span("write-concern")?, help, diags);
            }
        }
    }
    Some(Target {
        place,
        concern,
        unordered: s.bool("bulk-unordered").unwrap_or(false),
        bypass_validation: s.bool("bulk-bypass-validation").unwrap_or(false),
    })
}

/// The options that uri() has replaced.
const OLD: [&str; 7] = ["servers", "host", "port", "database", "username", "password", "safe-mode"];

/// The address that they make, where one of them is given.
fn old_uri(s: &Settings, diags: &mut Diagnostics) -> Result<Option<(String, Span)>, Reported> {
    let port = match s.is_set("port") {
        true => ports::port(s, "port", false, diags).ok_or(Reported)?,
        false => s.port("port").map_or(27017, |_| 27017),
    };
    let login = match (s.text("username"), s.text("password")) {
        (Some(user), Some(password)) => format!("{}:{}@", encoded(user), encoded(password)),
        (Some(user), None) => format!("{}@", encoded(user)),
        _ => String::new(),
    };
    let mut servers: Vec<String> = s.list("servers").iter().map(|server| server.text.clone()).collect();
    let host = s.text("host").unwrap_or("127.0.0.1");
    if servers.is_empty() || s.is_set("host") {
        servers.insert(0, format!("{host}:{port}"));
    }
    let database = encoded(s.text("database").unwrap_or("syslog"));
    let Some(first) = OLD.into_iter().find(|name| s.is_set(name)) else { return Ok(None) };
    let at = s.span(first).ok_or(Reported)?;
    let uri = format!("mongodb://{login}{}/{database}{}", servers.join(","), table::URI_OPTIONS);
    if first == "safe-mode" {
        return Ok(None);
    }
    if s.is_set("uri") {
        let text = format!("uri() says where the server is, and {first}() is passed over");
        diags.push(Diagnostic::warning("D0300", text, at).help("leave it out"));
        return Ok(None);
    }
    let finding = Diagnostic::warning("D0300", format!("{first}() is the old way to name the server"), at);
    diags.push(finding.help(format!("write `uri(\"{}\")`", uri.replacen(&login, "", 1))));
    Ok(Some((uri, at)))
}

/// As a part of an address.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
