//! `smtp()`: each message is a mail.

mod table;

use conf_schema::Settings;
use delivery::batching::Batching;
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics, Reported};
use driver_options::{Reading, ports, secure};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use smtp_client::{Header, Login, MailPlan, Mailbox, Plan, Security, TRANSFER_ENCODING, load, serve};
use std::sync::Arc;
use std::time::Duration;
use tls::Options;
use zeroize::Zeroizing;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::SMTP, build)];

/// Mails of a batch: few, for a take-over waits for its end, and not longer than a second. A connection is
/// kept from one batch to the next all the same.
const LINES: usize = 10;
/// SMTP over TLS from the beginning, RFC 8314.
const SMTPS: u16 = 465;

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0304", diags };
    let mut batching = Batching::read(&mut r)?;
    if batching.limits.lines == 0 {
        batching.limits.lines = LINES;
    }
    let (subject, body) = (r.template_or("subject", "")?, r.template_or("body", "")?);
    let mut fields = vec![r.own_template("${R_UNIXTIME}")?, subject];
    let mut headers = Vec::new();
    for pair in s.list("header").chunks(2) {
        let [name, value] = pair else {
            return r.wrong(
                "header",
                "a header has a name and a value",
                "write `header(\"X-Host\" \"$HOST\")`",
            );
        };
        let is_name = name.text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
        if name.text.is_empty() || !is_name {
            return r.wrong(
                "header",
                format!("`{}` is no name of a header", name.text),
                "it has no blanks and no colon",
            );
        }
        fields.push(r.compile(&value.text, value.span)?);
        let header = Header { name: name.text.clone() };
        if header.is(TRANSFER_ENCODING) {
            let text = format!("{TRANSFER_ENCODING} is what the body needs, whatever is written here");
            r.diags.push(Diagnostic::warning("D0304", text, name.span).help("leave it out"));
        }
        headers.push(header);
    }
    let plan = Arc::new(plan(headers, &mut r)?);
    let mut writer = Writer::new(body, cx.identity);
    writer.parts = Some(Fields::with_id(fields, Vec::new()));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let to: Vec<&str> = plan.mail.recipients().map(|mailbox| mailbox.address.as_str()).collect();
    let address = format!("{},{},{}", plan.host, plan.port, to.join(" "));
    let key = writing::key(s, &mut writer, || format!("smtp({address})"));
    // Each mail of a batch has a few answers.
    batching.limits.answer = Some(plan.patience * 2);
    let of_load = Arc::clone(&plan);
    let make = guest::sinks(
        cx.id(),
        move |part| load(&of_load.mail, part),
        move |jobs| serve(Arc::clone(&plan), jobs),
    );
    let described = ("smtp", format!("smtp,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

fn plan(headers: Vec<Header>, r: &mut Reading<'_>) -> Result<Plan, Reported> {
    let s = r.s;
    let mut all = |option: &str| match Mailbox::all(s.list(option).iter().map(|text| text.text.as_str())) {
        Ok(boxes) => Ok(boxes),
        Err(error) => r.wrong(option, error, "write `\"name\" \"user@example.com\"`, or the address alone"),
    };
    let (from, sender, reply_to) = (all("from")?, all("sender")?, all("reply-to")?);
    let (to, cc, bcc) = (all("to")?, all("cc")?, all("bcc")?);
    for (option, boxes) in [("from", &from), ("to", &to)] {
        if boxes.is_empty() && (option == "from" || (cc.is_empty() && bcc.is_empty())) {
            let help = format!("add `{option}(\"user@example.com\")`");
            return r.wrong(option, format!("smtp() does not say whom mails are {option}"), &help);
        }
    }
    if from.len() > 1 && sender.is_empty() {
        let help = "add `sender(\"user@example.com\")`, one of those of from()";
        return r.wrong("from", "mails from several people need a sender", help);
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
    let port = ports::port(s, "port", false, r.diags)?;
    let asked = secure::read_client(s, false, r.diags)?;
    let patience =
        s.seconds("timeout").filter(|timeout| !timeout.is_zero()).unwrap_or(Duration::from_secs(60));
    Ok(Plan {
        host: s.text("host").unwrap_or("127.0.0.1").to_owned(),
        port,
        security: security(asked, port, r)?,
        login: login(r)?,
        patience,
        mail,
    })
}

fn security(asked: Option<Options>, port: u16, r: &mut Reading<'_>) -> Result<Security, Reported> {
    let s = r.s;
    let begins = s.bool("starttls").filter(|_| s.is_set("starttls")).unwrap_or(port != SMTPS);
    match asked {
        Some(options) if begins => Ok(Security::Begun(options)),
        Some(options) => Ok(Security::Whole(options)),
        None if s.is_set("starttls") && begins => {
            r.wrong("starttls", "starttls(yes) needs to know whom to trust", "add `tls(ca-file(\"...\"))`")
        }
        None => Ok(Security::None),
    }
}

fn login(r: &mut Reading<'_>) -> Result<Option<Login>, Reported> {
    let s = r.s;
    match (s.text("username"), s.text("password")) {
        (None, None) => Ok(None),
        (Some(user), Some(password)) => {
            Ok(Some(Login { user: user.to_owned(), password: Zeroizing::new(password.to_owned()) }))
        }
        _ => r.wrong("username", "a login has a name and a password", "give username() and password()"),
    }
}
