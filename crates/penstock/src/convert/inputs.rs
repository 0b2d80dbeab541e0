//! Inputs as drivers of sources.

use super::NoCounterpart;
use super::directives::{Directives, Peer};
use super::reader::Params;
use super::written::{ip_protocol, quoted, word};
use std::path::Path;

/// A driver, and the ruleset that gets its messages; none: the one that all others get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub driver: String,
    pub ruleset: Option<String>,
}

/// Records of RFC 5424 are known by their version, others are of the old form.
const OF_BOTH_FORMS: &str = "flags(syslog-protocol)";

/// `module(load="imuxsock")`: what a module receives by being loaded. None: nothing.
pub fn of_module(name: &str, params: &Params) -> Result<Option<String>, NoCounterpart> {
    Ok(match name.to_lowercase().as_str() {
        "imuxsock" => {
            if params.is_on("syssock.use") == Some(false) {
                return Ok(None);
            }
            let keeps = params.is_on("syssock.ignoretimestamp") == Some(false);
            params.text("syssock.name").map_or(Some("system()".to_owned()), |path| Some(local(path, keeps)))
        }
        "imklog" => {
            Some("file(\"/proc/kmsg\" program-override(\"kernel\") flags(kernel) optional(yes))".to_owned())
        }
        "imjournal" => Some("systemd-journal()".to_owned()),
        "imudp" | "imtcp" | "imptcp" | "imrelp" | "imfile" => None,
        "omfile" | "omfwd" | "omrelp" | "omusrmsg" | "ompipe" | "omprog" | "builtin:omfile"
        | "builtin:omfwd" => None,
        "lmnsd_gtls" | "lmnsd_ossl" | "lmnsd_ptcp" => None,
        "immark" => return Err("marks: mark-freq() and mark-mode() of destinations do the like".into()),
        other => return Err(format!("the module {other}").into()),
    })
}

/// `input(type="imtcp" port="514")`; `module` has the parameters of its module.
pub fn object(
    params: &Params,
    module: &Params,
    directives: &Directives,
) -> Result<Vec<Input>, NoCounterpart> {
    let kind = params.text("type").unwrap_or_default().to_lowercase();
    let all = params.clone().or(module);
    let ruleset = all.text("ruleset").map(str::to_owned);
    let one = |driver: String| Ok(vec![Input { driver, ruleset: ruleset.clone() }]);
    match kind.as_str() {
        "imudp" => {
            let ports = params.list("port");
            let each = ports
                .iter()
                .map(|port| Input { driver: listening("udp", port, &all, None), ruleset: ruleset.clone() });
            Ok(each.collect())
        }
        "imtcp" | "imptcp" => {
            let port = params.text("port").ok_or("no port=\"\"")?;
            let mode = all.text("streamdriver.mode").or(all.text("streamdrivermode"));
            let mode = mode.or(directives.globals().text("streamdriver.mode"));
            match mode {
                Some("1") => one(listening("tls", port, &all, Some(directives.tls(&all, Peer::Sender)?))),
                _ => one(listening("tcp", port, &all, None)),
            }
        }
        "imrelp" => {
            let port = params.text("port").ok_or("no port=\"\"")?;
            let mut options = vec![format!("port({})", word(port)), OF_BOTH_FORMS.to_owned()];
            options.extend(all.text("address").into_iter().flat_map(address));
            if params.is_on("tls") == Some(true) {
                options.push(directives.tls(&all, Peer::Sender)?);
            }
            one(format!("relp({})", options.join(" ")))
        }
        "imuxsock" => {
            let path = params.text("socket").ok_or("no socket=\"\"")?;
            one(local(path, params.is_on("ignoretimestamp") == Some(false)))
        }
        "imfile" => one(file(params)?),
        "imklog" | "imjournal" => one(of_module(&kind, params)?.unwrap_or_default()),
        other => Err(format!("the input module {other}").into()),
    }
}

/// `$InputTCPServerRun 514`
pub fn legacy(
    kind: &str,
    value: &str,
    module: &Params,
    directives: &Directives,
) -> Result<Vec<Input>, NoCounterpart> {
    let mut params = Params::default();
    params.set("type", kind);
    params.set(if kind == "imuxsock" { "socket" } else { "port" }, value);
    if kind == "imudp" {
        directives.globals().text("address").into_iter().for_each(|address| params.set("address", address));
    }
    object(&params, module, directives)
}

/// A socket of this machine: a message is as old as its arrival, unless rsyslog is told otherwise.
fn local(path: &str, keeps_timestamp: bool) -> String {
    let arrival = if keeps_timestamp { "" } else { " keep-timestamp(no)" };
    format!("unix-dgram({}{arrival})", quoted(path))
}

/// `ip()`, with what an address of IPv6 needs.
fn address(address: &str) -> impl Iterator<Item = String> {
    ip_protocol(address).into_iter().chain([format!("ip({})", quoted(address))])
}

/// A receiver. What is on a connection is told apart by its first bytes: lines, or octets that are counted.
fn listening(transport: &str, port: &str, params: &Params, tls: Option<String>) -> String {
    let is_counted = params.is_on("supportoctetcountedframing") != Some(false);
    let transport = if transport != "udp" && is_counted { "auto" } else { transport };
    let mut options =
        vec![format!("transport({transport})"), format!("port({})", word(port)), OF_BOTH_FORMS.to_owned()];
    options.extend(params.text("address").filter(|address| *address != "*").into_iter().flat_map(address));
    options.extend(params.text("maxsessions").map(|count| format!("max-connections({})", word(count))));
    options.extend(tls);
    format!("network({})", options.join(" "))
}

fn file(params: &Params) -> Result<String, NoCounterpart> {
    let path = params.text("file").ok_or("no file=\"\"")?;
    let has = ["startmsg.regex", "readmode", "escapelf", "addmetadata"];
    let says_nothing = |name: &str| {
        let value = params.text(name).unwrap_or_default();
        name == "addmetadata" && value.eq_ignore_ascii_case("off") || name == "readmode" && value == "0"
    };
    if let Some(other) = has.iter().find(|name| params.text(name).is_some() && !says_nothing(name)) {
        return Err(format!("{other} of an input from a file").into());
    }
    let mut options = Vec::new();
    if let Some(tag) = params.text("tag") {
        options.push(format!("program-override({})", quoted(tag.trim_end_matches(':'))));
    }
    options.extend(params.text("facility").map(|facility| format!("default-facility({})", word(facility))));
    let severity = params.text("severity").unwrap_or("notice");
    options.push(format!("default-level({})", word(severity)));
    options.push("flags(no-parse)".to_owned());
    let options = options.join(" ");
    if !path.contains(['*', '?']) {
        return Ok(format!("file({} {options})", quoted(path)));
    }
    let path = Path::new(path);
    let folder = path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    let pattern = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if folder.contains(['*', '?']) {
        return Err("folders with a pattern in their names".into());
    }
    Ok(format!(
        "wildcard-file(base-dir({}) filename-pattern({}) {options})",
        quoted(&folder),
        quoted(&pattern)
    ))
}
