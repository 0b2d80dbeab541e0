//! `mongodb()`: messages as documents of MongoDB, a batch in one insert.

mod table;

use conf_schema::Settings;
use delivery::batching::Batching;
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics, Reported, Span};
use driver_options::{Reading, pairs, ports};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use mongodb_client::{Concern, Deployment, Target, load, serve};
use std::sync::Arc;
use template::value_pairs::{Rekey, Step};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::MONGODB, build)];

/// Bytes of a batch when batch-bytes() does not say.
const BATCH_BYTES: usize = 8 << 20;
/// Where documents go when collection() does not say.
const COLLECTION: &str = "messages";

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0300", diags };
    let mut batching = Batching::read(&mut r)?;
    if batching.limits.bytes == 0 {
        batching.limits.bytes = BATCH_BYTES;
    }
    if !s.bool("bulk").unwrap_or(true) {
        batching.limits.lines = 1;
    }
    let target = target(&mut r)?;
    let template = r.template_or("collection", COLLECTION)?;
    let collection = s.template("collection").map_or(COLLECTION, |text| text.text.as_str()).to_owned();
    // No name of a field begins with a dot.
    let dots = [Rekey { glob: ".*".into(), steps: vec![Step::ReplacePrefix(".".into(), "_".into())] }];
    let values = pairs::read_or_usual(&dots, &mut r)?;
    let mut writer = Writer::new(template, cx.identity);
    writer.parts = Some(Fields::with_id(Vec::new(), vec![values]));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = format!("{},{},{collection}", target.place.hosts, target.place.database);
    let key = writing::key(s, &mut writer, || format!("mongodb({address})"));
    batching.limits.answer = Some(target.place.answer_max);
    let of_load = Arc::new(target);
    let of_guest = Arc::clone(&of_load);
    let make = guest::sinks(
        cx.id(),
        move |part| load(&of_load, part),
        move |jobs| serve(Arc::clone(&of_guest), jobs),
    );
    let described = ("mongodb", format!("mongodb,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

fn target(r: &mut Reading<'_>) -> Result<Target, Reported> {
    let s = r.s;
    let old = old_uri(s, r.diags)?;
    let own = s.text("uri").unwrap_or(table::URI);
    let (uri, at) = match &old {
        Some((uri, at)) => (uri.as_str(), Some(*at)),
        None => (own, s.span("uri")),
    };
    let place = match Deployment::parse(uri) {
        Ok(place) => place,
        Err(error) => {
            let help = "write `uri(\"mongodb://host:27017/database\")`";
            return r.wrong_at(at, format!("wrong address of MongoDB: {error}"), help);
        }
    };
    let mut concern = place.concern();
    let safe = s.bool("safe-mode").map(|safe| if safe { "acked" } else { "unacked" });
    if let Some(word) = s.text("write-concern").or(safe) {
        match Concern::nodes(word) {
            Some(nodes) => concern.nodes = Some(nodes),
            None => {
                let help = "there are `unacked`, `acked`, `majority`, and numbers up to 50";
                return r.wrong("write-concern", format!("`{word}` is no write concern"), help);
            }
        }
    }
    Ok(Target {
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
        true => ports::port(s, "port", false, diags)?,
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
