//! Settings that hold for what comes after them: `$FileOwner root`, `global(...)`, `module(...)`.

use super::reader::Params;
use conf_syntax::quoted;
use std::fmt::Write;

/// Directives that change nothing of what is written.
const WITHOUT_EFFECT: [&str; 22] = [
    "workdirectory",
    "repeatedmsgreduction",
    "actionresumeinterval",
    "maxopenfiles",
    "privdroptouser",
    "privdroptogroup",
    "omfileasyncwriting",
    "omfileiobuffersize",
    "omfileflushontxend",
    "omfileflushinterval",
    "dynafilecachesize",
    "imjournalstatefile",
    "omitlocallogging",
    "umask",
    "createdirs",
    "failonchownfailure",
    "actionfileenablesync",
    "mainmsgqueuetype",
    "mainmsgqueuesize",
    "mainmsgqueuesaveonshutdown",
    "systemlogratelimitinterval",
    "systemlogratelimitburst",
];

/// What was said so far.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    file_template: Option<String>,
    rights: Params,
    /// Of `global()` and the directives that are the same.
    globals: Params,
    /// For the next action alone.
    next: Params,
}

/// What a directive is.
pub enum Meant {
    Done,
    /// `$ModLoad NAME`
    Module(String),
    /// `$IncludeConfig PATTERN`
    Include(String),
    /// `$template NAME,"TEXT"`
    Template(String),
    /// `$InputTCPServerRun 514`: the input, and its port or path.
    Input(&'static str, String),
    Left(String),
}

impl Directives {
    pub fn file_template(&self) -> &str {
        self.file_template.as_deref().unwrap_or("RSYSLOG_FileFormat")
    }

    pub fn set_file_template(&mut self, name: &str) {
        self.file_template = Some(name.to_owned());
    }

    pub fn globals(&self) -> &Params {
        &self.globals
    }

    pub fn add_globals(&mut self, params: &Params) {
        self.globals = params.clone().or(&self.globals);
    }

    pub fn add_rights(&mut self, params: &Params) {
        self.rights = params.clone().or(&self.rights);
    }

    /// What was said for the next action.
    pub fn take_next(&mut self) -> Params {
        std::mem::take(&mut self.next)
    }

    /// Owner and mode of a file, those of the action first.
    pub fn rights(&self, params: &Params) -> String {
        let all = params.clone().or(&self.rights);
        let mut out = String::new();
        let names = [
            ("fileowner", "owner"),
            ("filegroup", "group"),
            ("dirowner", "dir-owner"),
            ("dirgroup", "dir-group"),
        ];
        for (theirs, ours) in names {
            if let Some(value) = all.text(theirs) {
                let _ = write!(out, " {ours}({})", quoted(value));
            }
        }
        for (theirs, ours) in [("filecreatemode", "perm"), ("dircreatemode", "dir-perm")] {
            if let Some(value) = all.text(theirs) {
                let _ = write!(out, " {ours}({value})");
            }
        }
        out
    }

    /// `tls(...)` of a sender or a receiver.
    pub fn tls(&self, params: &Params, is_sender: bool) -> String {
        let all = params.clone().or(&self.globals);
        let file = |names: &[&str]| names.iter().find_map(|name| all.text(name).map(quoted));
        let mut options = Vec::new();
        let ca = file(&["streamdriver.cafile", "tls.cacert", "defaultnetstreamdrivercafile"]);
        let key = file(&["streamdriver.keyfile", "tls.myprivkey", "defaultnetstreamdriverkeyfile"]);
        let certificate = file(&["streamdriver.certfile", "tls.mycert", "defaultnetstreamdrivercertfile"]);
        options.extend(ca.as_ref().map(|ca| format!("ca-file({ca})")));
        options.extend(key.map(|key| format!("key-file({key})")));
        options.extend(certificate.map(|file| format!("cert-file({file})")));
        let auth = ["streamdriverauthmode", "streamdriver.authmode", "tls.authmode"]
            .iter()
            .find_map(|name| all.text(name));
        let is_anonymous = auth.is_none_or(|mode| mode.eq_ignore_ascii_case("anon"));
        options.push(match (is_anonymous, is_sender) {
            (true, _) => "peer-verify(optional-untrusted)".to_owned(),
            (false, _) => "peer-verify(required-trusted)".to_owned(),
        });
        format!("tls({})", options.join(" "))
    }

    /// `$Name value`
    pub fn read(&mut self, name: &str, value: &str) -> Meant {
        let value = value.trim();
        let plain = value.trim_matches('"').to_owned();
        let lower = name.to_lowercase();
        match lower.as_str() {
            "modload" => return Meant::Module(plain.trim_end_matches(".so").to_owned()),
            "includeconfig" => return Meant::Include(plain),
            "template" => return Meant::Template(value.to_owned()),
            "inputtcpserverrun" => return Meant::Input("imtcp", plain),
            "inputptcpserverrun" => return Meant::Input("imptcp", plain),
            "udpserverrun" => return Meant::Input("imudp", plain),
            "inputrelpserverrun" => return Meant::Input("imrelp", plain),
            "addunixlistensocket" => return Meant::Input("imuxsock", plain),
            "actionfiledefaulttemplate" => self.file_template = Some(plain),
            "fileowner" | "filegroup" | "filecreatemode" | "dircreatemode" | "dirowner" | "dirgroup" => {
                self.rights.set(&lower, &plain);
            }
            "udpserveraddress" => self.globals.set("address", &plain),
            "defaultnetstreamdrivercafile"
            | "defaultnetstreamdriverkeyfile"
            | "defaultnetstreamdrivercertfile"
            | "defaultnetstreamdriver" => self.globals.set(&lower, &plain),
            "inputtcpserverstreamdrivermode" => self.globals.set("streamdriver.mode", &plain),
            "inputtcpserverstreamdriverauthmode" => self.globals.set("streamdriver.authmode", &plain),
            "actionsendstreamdrivermode" => self.globals.set("streamdrivermode", &plain),
            "actionsendstreamdriverauthmode" => self.globals.set("streamdriverauthmode", &plain),
            "actionqueuefilename" => self.next.set("queue.filename", &plain),
            "actionqueuesize" => self.next.set("queue.size", &plain),
            "actionqueuemaxdiskspace" => self.next.set("queue.maxdiskspace", &plain),
            other if other.starts_with("actionqueue") || other == "actionresumeretrycount" => {}
            other if WITHOUT_EFFECT.contains(&other) => {}
            _ => return Meant::Left("a directive that is not known".to_owned()),
        }
        Meant::Done
    }
}
