//! Which parameters of an object are read, or change nothing of what is written: every other one is told.

use super::reader::Params;

/// Of the queue of anything.
const OF_QUEUES: &str = "queue.";
/// Of senders that are too fast; one of 0 seconds limits nobody.
const RATE_INTERVALS: [&str; 2] = ["ratelimit.interval", "ratelimitinterval"];
const RATES: [&str; 6] = [
    "ratelimit.interval",
    "ratelimit.burst",
    "ratelimit.severity",
    "ratelimitinterval",
    "ratelimitburst",
    "ratelimitseverity",
];
/// Of connections over which messages come: how they are watched and shared out.
const OF_LISTENERS: [&str; 14] = [
    "name",
    "name.appendport",
    "keepalive",
    "keepalive.time",
    "keepalive.interval",
    "keepalive.probes",
    "flowcontrol",
    "notifyonconnectionclose",
    "notifyonconnectionopen",
    "socketbacklog",
    "maxlistners",
    "maxlisteners",
    "workerthreads",
    "starvationprotection.maxreads",
];
const OF_STREAM_DRIVERS: [&str; 10] = [
    "streamdriver.name",
    "streamdriver.mode",
    "streamdrivermode",
    "streamdriver.authmode",
    "streamdriverauthmode",
    "streamdriver.cafile",
    "streamdriver.keyfile",
    "streamdriver.certfile",
    "permittedpeer",
    "maxsessions",
];
const OF_RELP: [&str; 8] = [
    "tls",
    "tls.cacert",
    "tls.mycert",
    "tls.myprivkey",
    "tls.authmode",
    "tls.permittedpeer",
    "tls.tlslib",
    "tls.dhbits",
];
const OF_FILES: [&str; 14] = [
    "filecreatemode",
    "dircreatemode",
    "fileowner",
    "filegroup",
    "dirowner",
    "dirgroup",
    "template",
    "sync",
    "asyncwriting",
    "iobuffersize",
    "flushontxend",
    "flushinterval",
    "dynafilecachesize",
    "closetimeout",
];

/// An object whose parameters are asked about.
#[derive(Clone, Copy)]
pub enum Object<'k> {
    Global,
    /// By its name.
    Module(&'k str),
    /// By its type.
    Input(&'k str),
    Ruleset,
    Include,
    Template,
}

/// The parameters that are neither read nor without effect, in the order of their names.
pub fn unknown(object: Object<'_>, params: &Params) -> Vec<String> {
    params.names().filter(|name| !is_known(object, name, params)).map(str::to_owned).collect()
}

fn is_known(object: Object<'_>, name: &str, params: &Params) -> bool {
    let value = params.text(name).unwrap_or_default();
    let is_among = |lists: &[&[&str]]| lists.iter().any(|list| list.contains(&name));
    let limits_nobody = RATES.contains(&name)
        && RATE_INTERVALS.iter().filter_map(|interval| params.text(interval)).all(|seconds| seconds == "0");
    match object {
        Object::Global => {
            name.starts_with("debug.")
                || is_among(&[&[
                    "workdirectory",
                    "umask",
                    "maxmessagesize",
                    "parser.escapecontrolcharactersonreceive",
                    "defaultnetstreamdriver",
                    "defaultnetstreamdrivercafile",
                    "defaultnetstreamdriverkeyfile",
                    "defaultnetstreamdrivercertfile",
                    "action.reportsuspension",
                    "action.reportsuspensioncontinuation",
                    "janitor.interval",
                    "shutdown.queue.doublesize",
                    "stdlog.channelspec",
                    "errormessagestostderr.maxnumber",
                    "oversizemsg.report",
                    "abortonuncleanconfig",
                    "privdrop.user.name",
                    "privdrop.group.name",
                    "privdrop.user.keepsupplementalgroups",
                ]])
        }
        Object::Module(module) => {
            name == "load"
                || match module {
                    // Its limit is on unless it is said otherwise, and is not converted then either.
                    "imuxsock" => is_among(&[&[
                        "syssock.use",
                        "syssock.name",
                        "syssock.ignoretimestamp",
                        "syssock.ratelimit.interval",
                        "syssock.ratelimit.burst",
                        "syssock.ratelimit.severity",
                        "syssock.flowcontrol",
                        "syssock.unlink",
                    ]]),
                    "imklog" => is_among(&[
                        &["permitnonkernelfacility", "consoleloglevel", "internalmsgfacility"],
                        &["ratelimitinterval", "ratelimitburst"],
                    ]),
                    "imjournal" => is_among(&[&[
                        "statefile",
                        "filecreatemode",
                        "ratelimit.interval",
                        "ratelimit.burst",
                        "persiststateinterval",
                        "workaroundjournalbug",
                        "ignorenonvalidstatefile",
                        "fsync",
                    ]]),
                    "imudp" => is_among(&[&[
                        "timerequery",
                        "schedulingpolicy",
                        "schedulingpriority",
                        "batchsize",
                        "threads",
                    ]]),
                    "imtcp" => is_among(&[&OF_LISTENERS, &OF_STREAM_DRIVERS]),
                    "imptcp" => is_among(&[&["threads", "maxsessions", "processonpoller"]]),
                    "imrelp" => name == "ruleset" || name == "tls.tlslib",
                    "imfile" => is_among(&[&[
                        "mode",
                        "pollinginterval",
                        "sortfiles",
                        "timeoutgranularity",
                        "statefile.directory",
                    ]]),
                    "omfile" | "builtin:omfile" => is_among(&[&OF_FILES]),
                    "omrelp" => name == "tls.tlslib",
                    "omfwd" | "builtin:omfwd" => name == "template",
                    "omusrmsg" | "ompipe" | "omprog" => false,
                    // The module itself is told.
                    _ => true,
                }
        }
        Object::Input(kind) => {
            let is_read = ["type", "ruleset", "name"].contains(&name);
            let is_of_network = ["port", "address", "listenportfilename"].contains(&name) || limits_nobody;
            is_read
                || match kind {
                    "imudp" => is_of_network || ["name.appendport", "rcvbufsize"].contains(&name),
                    "imtcp" => {
                        let is_read = name == "supportoctetcountedframing";
                        is_of_network || is_read || is_among(&[&OF_LISTENERS, &OF_STREAM_DRIVERS])
                    }
                    "imptcp" => {
                        let is_read = ["maxsessions", "supportoctetcountedframing"].contains(&name);
                        is_of_network || is_read || is_among(&[&OF_LISTENERS])
                    }
                    "imrelp" => is_of_network || is_among(&[&OF_LISTENERS, &OF_RELP]),
                    "imuxsock" => {
                        let own = ["socket", "ignoretimestamp", "createpath", "flowcontrol", "unlink"];
                        own.contains(&name) || limits_nobody
                    }
                    "imfile" if ["addmetadata", "readmode"].contains(&name) => {
                        ["off", "0"].contains(&value.to_lowercase().as_str())
                    }
                    "imfile" => is_among(&[&[
                        "file",
                        "tag",
                        "severity",
                        "facility",
                        "statefile",
                        "reopenontruncate",
                        "persiststateinterval",
                        "persiststateaftersubmission",
                        "deletestateonfiledelete",
                        "deletestateonfilemove",
                        "maxlinesatonce",
                        "maxsubmitatonce",
                    ]]),
                    "imklog" | "imjournal" => false,
                    // The input itself is told.
                    _ => true,
                }
        }
        Object::Ruleset => {
            let is_usual = name == "parser" && value.to_lowercase().starts_with("rsyslog.rfc");
            name == "name" || name.starts_with(OF_QUEUES) || is_usual
        }
        Object::Include => ["file", "mode"].contains(&name),
        Object::Template => ["name", "type", "string"].contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::reader::Reader;

    #[track_caller]
    fn check(object: Object<'_>, text: &str, expected: &[&str]) {
        let params = Reader::new(text).params().expect("parameters");
        assert_eq!(unknown(object, &params), expected, "{text}");
    }

    #[test]
    fn parameters_that_are_not_read_are_told() {
        check(Object::Global, "(workDirectory=\"/x\" maxMessageSize=\"8k\" bogus=\"z\")", &["bogus"]);
        check(Object::Module("imtcp"), "(load=\"imtcp\" PermittedPeer=[\"a\"] KeepAlive=\"on\")", &[]);
        check(Object::Module("imtcp"), "(load=\"imtcp\" DisableLFDelimiter=\"on\")", &["disablelfdelimiter"]);
        check(Object::Module("builtin:omfwd"), "(load=\"builtin:omfwd\" template=\"t\")", &[]);
        check(Object::Input("imudp"), "(type=\"imudp\" port=\"1\" RateLimit.Interval=\"0\")", &[]);
        check(
            Object::Input("imudp"),
            "(type=\"imudp\" port=\"1\" RateLimit.Interval=\"2\")",
            &["ratelimit.interval"],
        );
        check(Object::Input("imfile"), "(type=\"imfile\" file=\"/x\" readMode=\"2\")", &["readmode"]);
        check(Object::Ruleset, "(name=\"r\" queue.type=\"direct\" parser=\"rsyslog.rfc3164\")", &[]);
        check(Object::Ruleset, "(name=\"r\" parser=\"own\")", &["parser"]);
        check(Object::Template, "(name=\"t\" type=\"string\" option.sql=\"on\")", &["option.sql"]);
    }
}
