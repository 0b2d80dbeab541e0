//! `smtp()`: each message is a mail.

mod table;

use conf_schema::Settings;
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics};
use driver_options::templates::compile;
use driver_options::{ports, secure};
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use guest::{Line, Seat};
use smtp_client::{Header, Load, Login, MailPlan, Mailbox, Plan, Security, load, serve};
use std::sync::Arc;
use std::time::Duration;
use template::Template;
use tls::Options;
use zeroize::Zeroizing;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::SMTP, build)];

/// Mails of a batch: a connection is kept from one to the next all the same.
const LINES: usize = 100;
/// SMTP over TLS from the beginning, RFC 8314.
const SMTPS: u16 = 465;

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    if batching.limits.lines == 0 {
        batching.limits.lines = LINES;
    }
    let template = |name: &str, diags: &mut Diagnostics| match s.template(name) {
        Some(text) => compile(&text.text, text.span, &options, cx, diags),
        None => compile("", s.call_span()?, &options, cx, diags),
    };
    let (subject, body) = (template("subject", diags)?, template("body", diags)?);
    let mut fields: Vec<Arc<Template>> =
        vec![compile("${R_UNIXTIME}", s.call_span()?, &options, cx, diags)?, subject];
    let mut headers = Vec::new();
    for pair in s.list("header").chunks(2) {
        let [name, value] = pair else {
            return wrong(
                s,
                "header",
                "a header has a name and a value",
                "write `header(\"X-Host\" \"$HOST\")`",
                diags,
            );
        };
        let is_name = name.text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
        if name.text.is_empty() || !is_name {
            return wrong(
                s,
                "header",
                format!("`{}` is no name of a header", name.text),
                "it has no blanks and no colon",
                diags,
            );
        }
        fields.push(compile(&value.text, value.span, &options, cx, diags)?);
        headers.push(Header { name: name.text.clone() });
    }
    let plan = Arc::new(plan(s, headers, diags)?);
    let mut writer = Writer::new(body, cx.identity);
    writer.parts = Some(Fields::with_id(fields, Vec::new()));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let to: Vec<&str> = plan.mail.recipients().map(|mailbox| mailbox.address.as_str()).collect();
    let address = format!("{},{},{}", plan.host, plan.port, to.join(" "));
    let key = writing::key(s, &mut writer, || format!("smtp({address})"));
    // Each mail of a batch has a few answers.
    batching.limits.answer = Some(plan.patience * 2);
    let id = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let seat = Seat { home: place.home.clone(), outlet: place.id };
        let (of_load, of_guest) = (Arc::clone(&plan), Arc::clone(&plan));
        let load = move |part: &flight::Part<'_>| load(&of_load.mail, part);
        let line: Line<Load> =
            Line::open(seat, &id, limits.away, load, move |jobs| serve(Arc::clone(&of_guest), jobs));
        Box::new(FlightSink::new(line, limits, id.clone(), place.id, &place.counters))
    });
    let described = ("smtp", format!("smtp,{address}"));
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
    diags.push(Diagnostic::error("D0304", text.into(), at).help(help.to_owned()));
    None
}

/// `None` after an error was reported.
fn plan(s: &Settings, headers: Vec<Header>, diags: &mut Diagnostics) -> Option<Plan> {
    let mut all = |option: &str| match Mailbox::all(s.list(option).iter().map(|text| text.text.as_str())) {
        Ok(boxes) => Some(boxes),
        Err(error) => {
            wrong(s, option, error, "write `\"name\" \"user@example.com\"`, or the address alone", diags)
        }
    };
    let (from, sender, reply_to) = (all("from")?, all("sender")?, all("reply-to")?);
    let (to, cc, bcc) = (all("to")?, all("cc")?, all("bcc")?);
    for (option, boxes) in [("from", &from), ("to", &to)] {
        if boxes.is_empty() && (option == "from" || (cc.is_empty() && bcc.is_empty())) {
            let help = format!("add `{option}(\"user@example.com\")`");
            return wrong(s, option, format!("smtp() does not say whom mails are {option}"), &help, diags);
        }
    }
    if from.len() > 1 && sender.is_empty() {
        let help = "add `sender(\"user@example.com\")`, one of those of from()";
        return wrong(s, "from", "mails from several people need a sender", help, diags);
    }
    let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    let mail = MailPlan {
        from,
        sender: sender.into_iter().next(),
        to,
        cc,
        bcc,
        reply_to,
        headers,
        host: host.filter(|host| !host.is_empty()).unwrap_or_else(|| "localhost".to_owned()),
    };
    let port = ports::port(s, "port", false, diags)?;
    let asked = secure::read_client(s, false, diags).ok()?;
    let patience =
        s.seconds("timeout").filter(|timeout| !timeout.is_zero()).unwrap_or(Duration::from_secs(60));
    Some(Plan {
        host: s.text("host").unwrap_or("127.0.0.1").to_owned(),
        port,
        security: security(s, asked, port, diags)?,
        login: login(s, diags)?,
        patience,
        mail,
    })
}

fn security(s: &Settings, asked: Option<Options>, port: u16, diags: &mut Diagnostics) -> Option<Security> {
    let begins = s.bool("starttls").filter(|_| s.is_set("starttls")).unwrap_or(port != SMTPS);
    match asked {
        Some(options) if begins => Some(Security::Begun(options)),
        Some(options) => Some(Security::Whole(options)),
        None if s.is_set("starttls") && begins => wrong(
            s,
            "starttls",
            "starttls(yes) needs to know whom to trust",
            "add `tls(ca-file(\"...\"))`",
            diags,
        ),
        None => Some(Security::None),
    }
}

fn login(s: &Settings, diags: &mut Diagnostics) -> Option<Option<Login>> {
    match (s.text("username"), s.text("password")) {
        (None, None) => Some(None),
        (Some(user), Some(password)) => {
            Some(Some(Login { user: user.to_owned(), password: Zeroizing::new(password.to_owned()) }))
        }
        _ => {
            wrong(s, "username", "a login has a name and a password", "give username() and password()", diags)
        }
    }
}
