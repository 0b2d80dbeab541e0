//! Actions as drivers of destinations: files, other machines, terminals, pipes, programs.

use super::NoCounterpart;
use super::directives::{Directives, Peer};
use super::reader::Params;
use super::templates::{Made, Templates};
use super::written::{MESSAGE, ip_protocol, literal, quoted, word};

/// Bytes of a queue on disk that has no limit of its own.
const DISK_BYTES: u64 = 1 << 30;
/// Parameters that change nothing of what is written.
const WITHOUT_EFFECT: [&str; 24] = [
    "name",
    "action.resumeretrycount",
    "action.resumeinterval",
    "action.reportsuspension",
    "action.execonlywhenpreviousissuspended",
    "queue.saveonshutdown",
    "queue.dequeuebatchsize",
    "queue.workerthreads",
    "queue.checkpointinterval",
    "queue.highwatermark",
    "queue.lowwatermark",
    "queue.timeoutenqueue",
    "queue.timeoutshutdown",
    "queue.maxfilesize",
    "queue.type",
    "queue.filename",
    "queue.size",
    "queue.maxdiskspace",
    "queue.spooldirectory",
    "queue.discardmark",
    "queue.discardseverity",
    "queue.workerthreadminimummessages",
    "queue.syncqueuefiles",
    "queue.mindequeuebatchsize",
];

/// The part of a destination's name that tells what it is, and its drivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub name: String,
    pub drivers: Vec<Driver>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// Where it goes: of several that go to one place, one needs no name of its own.
    pub place: String,
    pub text: String,
}

impl Action {
    fn of(name: String, place: String, text: String) -> Action {
        Action { name, drivers: vec![Driver { place, text }] }
    }
}

/// What actions are made with.
pub struct Maker<'m> {
    pub templates: &'m Templates,
    pub directives: &'m Directives,
}

impl Maker<'_> {
    /// `action(type="omfile" file="...")`
    pub fn object(&self, params: &Params) -> Result<Action, NoCounterpart> {
        let kind = params.text("type").unwrap_or_default().to_lowercase();
        let text = |name: &str| params.text(name).map(str::to_owned);
        let needed = |name: &str| text(name).ok_or_else(|| format!("no {name}=\"\""));
        if params.is_on("action.execonlywhenpreviousissuspended") == Some(true) {
            return Err("an action for when another one fails".into());
        }
        match kind.as_str() {
            "omfile" => {
                known(
                    params,
                    &[
                        "type",
                        "file",
                        "dynafile",
                        "template",
                        "fileowner",
                        "filegroup",
                        "filecreatemode",
                        "dircreatemode",
                        "dirowner",
                        "dirgroup",
                        "sync",
                        "asyncwriting",
                        "iobuffersize",
                        "flushontxend",
                        "flushinterval",
                        "dynafilecachesize",
                        "closetimeout",
                        "createdirs",
                        "failonchownfailure",
                    ],
                )?;
                let template = text("template");
                match text("dynafile") {
                    Some(name) => self.dynamic_file(&name, template.as_deref(), params),
                    None => self.file(&needed("file")?, template.as_deref(), params),
                }
            }
            "omfwd" => {
                known(
                    params,
                    &[
                        "type",
                        "target",
                        "port",
                        "protocol",
                        "template",
                        "tcp_framing",
                        "streamdriver",
                        "streamdrivermode",
                        "streamdriverauthmode",
                        "streamdriverpermittedpeers",
                        "streamdriver.mode",
                        "streamdriver.name",
                        "streamdriver.authmode",
                        "streamdriver.cafile",
                        "streamdriver.keyfile",
                        "streamdriver.certfile",
                        "keepalive",
                        "keepalive.time",
                        "keepalive.interval",
                        "keepalive.probes",
                        "resendlastmsgonreconnect",
                        "rebindinterval",
                    ],
                )?;
                self.forward(&needed("target")?, params)
            }
            "omrelp" => {
                known(
                    params,
                    &[
                        "type",
                        "target",
                        "port",
                        "template",
                        "timeout",
                        "windowsize",
                        "tls",
                        "tls.cacert",
                        "tls.mycert",
                        "tls.myprivkey",
                        "tls.authmode",
                        "tls.permittedpeer",
                        "rebindinterval",
                        "conn.timeout",
                    ],
                )?;
                self.relp(&needed("target")?, params)
            }
            "omusrmsg" => {
                known(params, &["type", "users", "template"])?;
                Ok(users(&params.list("users").join(",")))
            }
            "ompipe" => {
                known(params, &["type", "pipe", "template"])?;
                self.pipe(&needed("pipe")?, text("template").as_deref())
            }
            "omprog" => {
                known(params, &["type", "binary", "template", "hup.signal", "signalonclose"])?;
                let command = needed("binary")?;
                let template = self.template(text("template").as_deref(), "RSYSLOG_FileFormat")?;
                let driver = format!("program({} template({}))", quoted(&command), quoted(&template));
                Ok(Action::of("program".to_owned(), format!("program {command}"), driver))
            }
            "" => Err("an action without a type".into()),
            other => Err(format!("the output module {other}").into()),
        }
    }

    /// What stands behind a selector: `/var/log/x`, `@host`, `:omusrmsg:*`.
    pub fn legacy(&self, text: &str, queue: &Params) -> Result<Action, NoCounterpart> {
        let (target, template) = match text.split_once(';') {
            Some((target, template)) => (target.trim(), Some(template.trim())),
            None => (text.trim(), None),
        };
        let file = target.strip_prefix('-').unwrap_or(target);
        if file.starts_with('/') {
            return self.file(file, template, queue);
        }
        if let Some(name) = file.strip_prefix('?') {
            return self.dynamic_file(name, template, queue);
        }
        if let Some(host) = target.strip_prefix('@') {
            return self.legacy_forward(host, template, queue);
        }
        if let Some(path) = target.strip_prefix('|') {
            return self.pipe(path.trim(), template);
        }
        if let Some(rest) = target.strip_prefix(":omusrmsg:") {
            return Ok(users(rest));
        }
        if let Some(rest) = target.strip_prefix(":omrelp:") {
            let (host, port) = rest.rsplit_once(':').unwrap_or((rest, "514"));
            let mut params = queue.clone();
            params.set("port", port);
            template.iter().for_each(|template| params.set("template", template));
            return self.relp(host, &params);
        }
        if target.starts_with([':', '^', '$', '>']) {
            return Err(format!("the action `{target}`").into());
        }
        match target.split(',').all(|user| {
            !user.trim().is_empty() && user.trim().chars().all(|c| c.is_alphanumeric() || "*_-.".contains(c))
        }) {
            true => Ok(users(target)),
            false => Err(format!("the action `{target}`").into()),
        }
    }

    fn legacy_forward(
        &self,
        text: &str,
        template: Option<&str>,
        queue: &Params,
    ) -> Result<Action, NoCounterpart> {
        let (protocol, rest) = text.strip_prefix('@').map_or(("udp", text), |rest| ("tcp", rest));
        let (options, rest) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((options, rest)) => (options, rest),
            None => ("", rest),
        };
        let (host, port) = host_and_port(rest);
        let mut params = queue.clone();
        params.set("protocol", protocol);
        params.set("port", port);
        if options.split(',').any(|option| option.trim() == "o") {
            params.set("tcp_framing", "octet-counted");
        }
        template.iter().for_each(|template| params.set("template", template));
        self.forward(host, &params)
    }

    fn file(&self, path: &str, template: Option<&str>, params: &Params) -> Result<Action, NoCounterpart> {
        let template = self.template(template, self.directives.file_template())?;
        let rights = self.directives.rights(params);
        let driver = format!("file({} template({}){rights})", literal(path), quoted(&template));
        Ok(Action::of(name_of(path), format!("file {path}"), driver))
    }

    fn dynamic_file(
        &self,
        name: &str,
        template: Option<&str>,
        params: &Params,
    ) -> Result<Action, NoCounterpart> {
        let path = self.templates.named(name)?.text;
        let template = self.template(template, self.directives.file_template())?;
        let rights = self.directives.rights(params);
        let driver =
            format!("file({} template({}) create-dirs(yes){rights})", quoted(&path), quoted(&template));
        Ok(Action::of(name.to_lowercase(), format!("file {path}"), driver))
    }

    fn forward(&self, host: &str, params: &Params) -> Result<Action, NoCounterpart> {
        let params = params.clone().or(self.directives.globals());
        let is_tcp = params.text("protocol").is_some_and(|protocol| protocol.eq_ignore_ascii_case("tcp"));
        let mode = params.text("streamdrivermode").or(params.text("streamdriver.mode"));
        let is_tls = is_tcp && mode.is_some_and(|mode| mode == "1");
        let is_counted =
            params.text("tcp_framing").is_some_and(|framing| framing.eq_ignore_ascii_case("octet-counted"));
        let made = match params.text("template").or(self.directives.forward_template()) {
            None => None,
            Some(name) if name.eq_ignore_ascii_case("rsyslog_traditionalforwardformat") => None,
            Some(name) => Some(self.templates.named(name)?),
        };
        let port = params.text("port").unwrap_or("514");
        let is_protocol = made.as_ref().is_some_and(|made| made.is_protocol);
        let transport = match (is_tls, is_tcp) {
            (true, _) => "tls",
            (false, true) => "tcp",
            (false, false) => "udp",
        };
        let driver = if is_protocol && (is_counted || !is_tcp) { "syslog" } else { "network" };
        if is_counted && !is_protocol && is_tcp {
            return Err("counted octets in front of records of the old form".into());
        }
        let mut options = vec![format!("port({})", word(port)), format!("transport({transport})")];
        options.extend(ip_protocol(host));
        if is_protocol && driver == "network" {
            options.push("flags(syslog-protocol)".to_owned());
        }
        if let Some(Made { text, is_protocol: false }) = made {
            let end = if is_tcp && !text.ends_with('\n') { "\n" } else { "" };
            options.push(format!("template({})", quoted(&format!("{text}{end}"))));
        }
        if is_tls {
            options.push(self.directives.tls(&params, Peer::Receiver(host))?);
        }
        options.extend(queue(&params)?);
        let driver = format!("{driver}({} {})", quoted(host), options.join(" "));
        Ok(Action::of(name_of(host), format!("{transport} {host} {port}"), driver))
    }

    fn relp(&self, host: &str, params: &Params) -> Result<Action, NoCounterpart> {
        let mut options = vec![format!("port({})", word(params.text("port").unwrap_or("514")))];
        options.extend(ip_protocol(host));
        match params.text("template") {
            None => options.push("template(\"<${PRI}>$ISODATE $HOST ${MSGHDR}${MESSAGE}\")".to_owned()),
            Some(name) => {
                let made = self.templates.named(name)?;
                match made.is_protocol {
                    true => options.push("flags(syslog-protocol)".to_owned()),
                    false => options.push(format!("template({})", quoted(made.text.trim_end_matches('\n')))),
                }
            }
        }
        if params.is_on("tls") == Some(true) {
            options.push(self.directives.tls(params, Peer::Receiver(host))?);
        }
        options.extend(queue(params)?);
        let driver = format!("relp({} {})", quoted(host), options.join(" "));
        let place = format!("relp {host} {}", params.text("port").unwrap_or("514"));
        Ok(Action::of(name_of(host), place, driver))
    }

    fn pipe(&self, path: &str, template: Option<&str>) -> Result<Action, NoCounterpart> {
        let template = self.template(template, "RSYSLOG_FileFormat")?;
        let driver = format!("pipe({} template({}))", literal(path), quoted(&template));
        Ok(Action::of(name_of(path), format!("pipe {path}"), driver))
    }

    fn template(&self, name: Option<&str>, preset: &str) -> Result<String, NoCounterpart> {
        let made = self.templates.named(name.unwrap_or(preset))?;
        match made.is_protocol {
            true => Ok(format!(
                "<${{PRI}}>1 $ISODATE $HOST ${{PROGRAM:--}} ${{PID:--}} ${{MSGID:--}} ${{SDATA:--}} {MESSAGE}\n"
            )),
            false => Ok(made.text),
        }
    }
}

fn known(params: &Params, own: &[&str]) -> Result<(), NoCounterpart> {
    let is_known = |name: &str| own.contains(&name) || WITHOUT_EFFECT.contains(&name);
    match params.names().find(|name| !is_known(name)) {
        Some(unknown) => Err(format!("the parameter {unknown} of the action").into()),
        None => Ok(()),
    }
}

fn host_and_port(text: &str) -> (&str, &str) {
    let text = text.trim();
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (host, rest.strip_prefix(':').unwrap_or("514"));
    }
    text.split_once(':').unwrap_or((text, "514"))
}

fn users(list: &str) -> Action {
    let users: Vec<&str> = list.split(',').map(str::trim).filter(|user| !user.is_empty()).collect();
    let driver =
        |user: &&str| Driver { place: format!("user {user}"), text: format!("usertty({})", quoted(user)) };
    Action { name: "users".to_owned(), drivers: users.iter().map(driver).collect() }
}

/// Options for what waits: on disk where the queue has a file, otherwise so many messages.
fn queue(params: &Params) -> Result<Vec<String>, NoCounterpart> {
    let size = params.text("queue.size").map(str::to_owned);
    if params.text("queue.filename").is_none() {
        return Ok(size.into_iter().map(|size| format!("log-fifo-size({size})")).collect());
    }
    let bytes = params.text("queue.maxdiskspace").map(bytes).transpose()?.unwrap_or(DISK_BYTES);
    Ok(vec![format!("disk-buffer(capacity-bytes({bytes}) reliable(no))")])
}

/// `1g`, `500m`
pub fn bytes(text: &str) -> Result<u64, NoCounterpart> {
    let text = text.trim().to_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic());
    let factor: u64 = match text.get(digits.len()..).unwrap_or_default() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        other => return Err(format!("the size `{text}`: `{other}`").into()),
    };
    let number: u64 = digits.parse().map_err(|_| format!("the size `{text}`"))?;
    Ok(number.saturating_mul(factor))
}

/// The last part of a path, or a host, as a part of a name.
fn name_of(path: &str) -> String {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let name: String =
        last.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    name.trim_matches('_').to_owned()
}
