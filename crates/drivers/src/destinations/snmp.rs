//! `snmp()`: messages as notifications of SNMP.

mod table;

use conf_schema::Settings;
use delivery::batching::Batching;
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics, Reported};
use driver_options::{Reading, ports};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use snmp_client::{Auth, Digest, Kind, Object, Oid, Plan, User, Version, load, serve};
use std::sync::Arc;
use std::time::Duration;
use template::Template;
use zeroize::Zeroizing;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::SNMP, build)];

/// Notifications of a batch.
const LINES: usize = 64;
/// snmpTrapOID.0, RFC 3418: the only name that trap-obj() may have.
const TRAP: &str = "1.3.6.1.6.3.1.1.4.1.0";

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0306", diags };
    let mut batching = Batching::read(&mut r)?;
    if batching.limits.lines == 0 {
        batching.limits.lines = LINES;
    }
    let trap = trap(&mut r)?;
    let (objects, values) = objects(&mut r)?;
    let plan = Arc::new(plan(&mut r)?);
    let mut writer = Writer::new(r.own_template("")?, cx.identity);
    writer.parts = Some(Fields::of(values));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = format!("{},{}", plan.host, plan.port);
    let key = writing::key(s, &mut writer, || format!("snmp({address})"));
    // An inform is sent three times.
    batching.limits.answer = Some(plan.patience * 4);
    let objects = Arc::new(objects);
    let make = guest::sinks(
        cx.id(),
        move |part| load(&trap, &objects, part),
        move |jobs| serve(Arc::clone(&plan), jobs),
    );
    let described = ("snmp", format!("snmp,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

/// Which notification it is.
fn trap(r: &mut Reading<'_>) -> Result<Oid, Reported> {
    let help = "write `trap-obj(\"1.3.6.1.6.3.1.1.4.1.0\" \"Objectid\" \"1.3.6.1.4.1.9.9.41.2.0.1\")`";
    let [name, kind, value] = r.s.list("trap-obj") else {
        return r.wrong("trap-obj", "snmp() does not say which notification it sends", help);
    };
    let is_name = Oid::parse(&name.text) == Oid::parse(TRAP);
    match Oid::parse(&value.text).filter(|_| is_name && Kind::named(&kind.text) == Some(Kind::Oid)) {
        Some(oid) => Ok(oid),
        None => r.wrong("trap-obj", "trap-obj() is snmpTrapOID.0, an Objectid, and its value", help),
    }
}

/// What each notification has, and where the values come from.
fn objects(r: &mut Reading<'_>) -> Result<(Vec<Object>, Vec<Arc<Template>>), Reported> {
    let (mut objects, mut values) = (Vec::new(), Vec::new());
    let help = "write `snmp-obj(\"1.3.6.1.4.1.9.9.41.1.2.3.1.5.55\" \"Octetstring\" \"$MSG\")`";
    for words in r.s.list("snmp-obj").chunks(3) {
        let [name, kind, value] = words else {
            return r.wrong("snmp-obj", "an object has a name, a type and a value", help);
        };
        let Some(oid) = Oid::parse(&name.text) else {
            let text = format!("`{}` is no name of an object in numbers", name.text);
            return r.wrong("snmp-obj", text, help);
        };
        let Some(kind) = Kind::named(&kind.text) else {
            let help = "there are Integer, Timeticks, Octetstring, Counter32, Counter64, Gauge32, Ipaddress, Objectid";
            return r.wrong("snmp-obj", format!("there is no type `{}`", kind.text), help);
        };
        values.push(r.compile(&value.text, value.span)?);
        objects.push(Object { oid, kind });
    }
    if objects.is_empty() {
        return r.wrong("snmp-obj", "snmp() sends no objects", help);
    }
    Ok((objects, values))
}

/// What version 2c has no use for.
const OF_USERS: &[&str] =
    &["engine-id", "auth-username", "auth-algorithm", "auth-password", "enc-algorithm", "enc-password"];

fn plan(r: &mut Reading<'_>) -> Result<Plan, Reported> {
    let s = r.s;
    // There is no other.
    let _ = s.choice("transport");
    let (community, words) = (s.text("community").unwrap_or("public"), UserWords::read(s));
    let (version, others) = match s.choice("version") {
        Some("v3") => (user(&words, r)?, &["community"][..]),
        _ => (Version::Community(community.to_owned()), OF_USERS),
    };
    for option in others.iter().filter(|option| s.is_set(option)) {
        let text = format!("{option}() belongs to the other version");
        let finding = Diagnostic::warning("D0306", text, s.span(option).ok_or(Reported)?);
        r.diags.push(finding.help("leave it out, or change version()"));
    }
    let timeout = s.seconds("timeout").filter(|timeout| !timeout.is_zero());
    Ok(Plan {
        host: s.text("host").unwrap_or("127.0.0.1").to_owned(),
        port: ports::port(s, "port", true, r.diags)?,
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

fn user(words: &UserWords<'_>, r: &mut Reading<'_>) -> Result<Version, Reported> {
    let Some(name) = words.name else {
        return r.wrong("version", "version(v3) needs a user", "add `auth-username(\"...\")`");
    };
    let engine = hex(words.engine).filter(|id| (5..=32).contains(&id.len()));
    // Informs belong to the engine of whom they go to.
    let engine = match engine {
        Some(engine) => engine,
        None if r.s.bool("inform").unwrap_or(false) && words.engine.is_empty() => Vec::new(),
        None => {
            let help = "add `engine-id(\"0x8000000001020304\")`, 5 to 32 bytes, which the receiver knows the user by";
            return r.wrong("engine-id", "version(v3) needs an engine", help);
        }
    };
    for (option, password) in [("auth-password", words.password), ("enc-password", words.privacy)] {
        // RFC 3414 section 11.2
        if password.is_some_and(|password| password.len() < 8) {
            let help = "SNMP allows no shorter ones";
            return r.wrong(option, "the password has less than 8 bytes", help);
        }
    }
    let secret = |password: &str| Zeroizing::new(password.to_owned());
    let auth = match (words.password, words.privacy) {
        (None, None) => None,
        (None, Some(_)) => {
            let help = "add `auth-password(\"...\")`";
            return r.wrong("enc-password", "what is encrypted has to be signed too", help);
        }
        (Some(password), privacy) => {
            Some(Auth { digest: words.digest, password: secret(password), privacy: privacy.map(secret) })
        }
    };
    Ok(Version::User { user: User { name: name.to_owned(), auth }, engine })
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
