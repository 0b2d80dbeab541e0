//! `snmp()`: messages as notifications of SNMP.

mod table;

use conf_schema::Settings;
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics};
use driver_options::ports;
use driver_options::templates::compile;
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use guest::{Line, Seat};
use snmp_client::{Auth, Digest, Kind, Load, Object, Oid, Plan, User, Version, load, serve};
use std::sync::Arc;
use std::time::Duration;
use template::{Template, TemplateOptions};
use zeroize::Zeroizing;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::SNMP, build)];

/// Notifications of a batch.
const LINES: usize = 64;
/// snmpTrapOID.0, RFC 3418: the only name that trap-obj() may have.
const TRAP: &str = "1.3.6.1.6.3.1.1.4.1.0";

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    if batching.limits.lines == 0 {
        batching.limits.lines = LINES;
    }
    let trap = trap(s, diags)?;
    let (objects, values) = objects(s, &options, cx, diags)?;
    let plan = Arc::new(plan(s, diags)?);
    let mut writer = Writer::new(compile("", s.call_span()?, &options, cx, diags)?, cx.identity);
    writer.parts = Some(Fields::of(values));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let address = format!("{},{}", plan.host, plan.port);
    let key = writing::key(s, &mut writer, || format!("snmp({address})"));
    // An inform is sent three times.
    batching.limits.answer = Some(plan.patience * 4);
    let (id, objects) = (cx.id(), Arc::new(objects));
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let seat = Seat { home: place.home.clone(), outlet: place.id };
        let (plan, trap, objects) = (Arc::clone(&plan), trap.clone(), Arc::clone(&objects));
        let load = move |part: &flight::Part<'_>| load(&trap, &objects, part);
        let line: Line<Load> =
            Line::open(seat, &id, limits.away, load, move |jobs| serve(Arc::clone(&plan), jobs));
        Box::new(FlightSink::new(line, limits, id.clone(), place.id, &place.counters))
    });
    let described = ("snmp", format!("snmp,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}

fn wrong<T>(
    s: &Settings,
    option: &str,
    text: impl Into<String>,
    help: &str,
    diags: &mut Diagnostics,
) -> Option<T> {
    let at = s.span(option).or(s.call_span())?;
    diags.push(Diagnostic::error("D0306", text.into(), at).help(help.to_owned()));
    None
}

/// Which notification it is.
fn trap(s: &Settings, diags: &mut Diagnostics) -> Option<Oid> {
    let help = "write `trap-obj(\"1.3.6.1.6.3.1.1.4.1.0\" \"Objectid\" \"1.3.6.1.4.1.9.9.41.2.0.1\")`";
    let [name, kind, value] = s.list("trap-obj") else {
        return wrong(s, "trap-obj", "snmp() does not say which notification it sends", help, diags);
    };
    let is_name = Oid::parse(&name.text) == Oid::parse(TRAP);
    match Oid::parse(&value.text).filter(|_| is_name && Kind::named(&kind.text) == Some(Kind::Oid)) {
        Some(oid) => Some(oid),
        None => wrong(s, "trap-obj", "trap-obj() is snmpTrapOID.0, an Objectid, and its value", help, diags),
    }
}

/// What each notification has, and where the values come from.
fn objects(
    s: &Settings,
    options: &TemplateOptions,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Option<(Vec<Object>, Vec<Arc<Template>>)> {
    let (mut objects, mut values) = (Vec::new(), Vec::new());
    let help = "write `snmp-obj(\"1.3.6.1.4.1.9.9.41.1.2.3.1.5.55\" \"Octetstring\" \"$MSG\")`";
    for words in s.list("snmp-obj").chunks(3) {
        let [name, kind, value] = words else {
            return wrong(s, "snmp-obj", "an object has a name, a type and a value", help, diags);
        };
        let Some(oid) = Oid::parse(&name.text) else {
            let text = format!("`{}` is no name of an object in numbers", name.text);
            return wrong(s, "snmp-obj", text, help, diags);
        };
        let Some(kind) = Kind::named(&kind.text) else {
            let help = "there are Integer, Timeticks, Octetstring, Counter32, Counter64, Gauge32, Ipaddress, Objectid";
            return wrong(s, "snmp-obj", format!("there is no type `{}`", kind.text), help, diags);
        };
        values.push(compile(&value.text, value.span, options, cx, diags)?);
        objects.push(Object { oid, kind });
    }
    if objects.is_empty() {
        return wrong(s, "snmp-obj", "snmp() sends no objects", help, diags);
    }
    Some((objects, values))
}

/// What version 2c has no use for.
const OF_USERS: &[&str] =
    &["engine-id", "auth-username", "auth-algorithm", "auth-password", "enc-algorithm", "enc-password"];

/// `None` after an error was reported.
fn plan(s: &Settings, diags: &mut Diagnostics) -> Option<Plan> {
    // There is no other.
    let _ = s.choice("transport");
    let (community, words) = (s.text("community").unwrap_or("public"), UserWords::read(s));
    let (version, others) = match s.choice("version") {
        Some("v3") => (user(s, &words, diags)?, &["community"][..]),
        _ => (Version::Community(community.to_owned()), OF_USERS),
    };
    for option in others.iter().filter(|option| s.is_set(option)) {
        let finding =
            Diagnostic::warning("D0306", format!("{option}() belongs to the other version"), s.span(option)?);
        diags.push(finding.help("leave it out, or change version()"));
    }
    let timeout = s.seconds("timeout").filter(|timeout| !timeout.is_zero());
    Some(Plan {
        host: s.text("host").unwrap_or("127.0.0.1").to_owned(),
        port: ports::port(s, "port", true, diags)?,
        version,
        is_inform: s.bool("inform").unwrap_or(false),
        patience: timeout.unwrap_or(Duration::from_secs(5)),
    })
}

/// What version 3 asks for, as it is written.
struct UserWords<'a> {
    name: Option<&'a str>,
    engine: &'a str,
    digest: Digest,
    password: Option<&'a str>,
    privacy: Option<&'a str>,
}

impl<'a> UserWords<'a> {
    fn read(s: &'a Settings) -> UserWords<'a> {
        let text = |name: &str| s.text(name).filter(|text| !text.is_empty());
        // AES is the one that there is.
        let _ = s.choice("enc-algorithm");
        UserWords {
            name: text("auth-username"),
            engine: text("engine-id").unwrap_or_default().trim_start_matches("0x"),
            digest: match s.choice("auth-algorithm") {
                Some("sha256") => Digest::Sha256,
                Some("sha384") => Digest::Sha384,
                Some("sha512") => Digest::Sha512,
                _ => Digest::Sha1,
            },
            password: text("auth-password"),
            privacy: text("enc-password"),
        }
    }
}

fn user(s: &Settings, words: &UserWords<'_>, diags: &mut Diagnostics) -> Option<Version> {
    let Some(name) = words.name else {
        return wrong(s, "version", "version(v3) needs a user", "add `auth-username(\"...\")`", diags);
    };
    let engine = hex(words.engine).filter(|id| (5..=32).contains(&id.len()));
    // Informs belong to the engine of whom they go to.
    let engine = match engine {
        Some(engine) => engine,
        None if s.bool("inform").unwrap_or(false) && words.engine.is_empty() => Vec::new(),
        None => {
            let help = "add `engine-id(\"0x8000000001020304\")`, 5 to 32 bytes, which the receiver knows the user by";
            return wrong(s, "engine-id", "version(v3) needs an engine", help, diags);
        }
    };
    for (option, password) in [("auth-password", words.password), ("enc-password", words.privacy)] {
        // RFC 3414 section 11.2
        if password.is_some_and(|password| password.len() < 8) {
            let help = "SNMP allows no shorter ones";
            return wrong(s, option, "the password has less than 8 bytes", help, diags);
        }
    }
    let secret = |password: &str| Zeroizing::new(password.to_owned());
    let auth = match (words.password, words.privacy) {
        (None, None) => None,
        (None, Some(_)) => {
            let help = "add `auth-password(\"...\")`";
            return wrong(s, "enc-password", "what is encrypted has to be signed too", help, diags);
        }
        (Some(password), privacy) => {
            Some(Auth { digest: words.digest, password: secret(password), privacy: privacy.map(secret) })
        }
    };
    Some(Version::User { user: User { name: name.to_owned(), auth }, engine })
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
