//! Settings that hold for what comes after them: `$FileOwner root`, `global(...)`, `module(...)`.

use super::NoCounterpart;
use super::reader::Params;
use super::written::{quoted, word};
use std::fmt::Write;

/// Directives that change nothing of what is written.
const WITHOUT_EFFECT: [&str; 33] = [
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
    "createdirs",
    "failonchownfailure",
    "actionfileenablesync",
    "mainmsgqueuetype",
    "mainmsgqueuesize",
    "mainmsgqueuesaveonshutdown",
    "systemlogratelimitinterval",
    "systemlogratelimitburst",
    // Here control characters stay as they are.
    "escapecontrolcharactersonreceive",
    "escape8bitcharactersonreceive",
    "klogpermitnonkernelfacility",
    "klogconsoleloglevel",
    "privdroptouserid",
    "privdroptogroupid",
    "rulesetcreatemainqueue",
    "udpservertimerequery",
    "imudpschedulingpolicy",
    "imudpschedulingpriority",
    "inputtcpmaxlisteners",
    "inputtcpserverkeepalive",
];

/// What files are made with where nothing is said.
const FILE_MODE: u32 = 0o644;

/// What was said so far.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    file_template: Option<String>,
    forward_template: Option<String>,
    rights: Params,
    /// Rights that no file gets.
    umask: u32,
    /// Of `global()` and the directives that are the same.
    globals: Params,
    /// For the next action alone.
    next: Params,
    /// Of the next file that is read.
    file: Params,
}

/// The other side of a session with TLS.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Peer<'h> {
    Sender,
    /// The host that is named in the configuration.
    Receiver(&'h str),
}

/// Who of them is let in.
enum Wanted<'p> {
    Anybody,
    Trusted,
    /// These certificates, whoever has signed them.
    Fingerprints(Vec<&'p str>),
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
    /// `$InputRunFileMonitor`: a file that was described before it.
    File(Params),
    /// `$InputTCPServerBindRuleset NAME`: a parameter of all inputs of a kind that come behind it.
    OfModule(&'static str, &'static str, String),
    /// `$RuleSet NAME`: whose rules come next.
    Ruleset(String),
    /// `$DefaultRuleset NAME`
    DefaultRuleset(String),
    Left(String),
}

impl Directives {
    pub fn file_template(&self) -> &str {
        self.file_template.as_deref().unwrap_or("RSYSLOG_FileFormat")
    }

    pub fn set_file_template(&mut self, name: &str) {
        self.file_template = Some(name.to_owned());
    }

    /// That of records for other hosts, where one is named.
    pub fn forward_template(&self) -> Option<&str> {
        self.forward_template.as_deref()
    }

    pub fn set_forward_template(&mut self, name: &str) {
        self.forward_template = Some(name.to_owned());
    }

    pub fn globals(&self) -> &Params {
        &self.globals
    }

    pub fn add_globals(&mut self, params: &Params) {
        self.globals = params.clone().or(&self.globals);
        params.text("umask").into_iter().for_each(|umask| self.set_umask(umask));
    }

    fn set_umask(&mut self, text: &str) {
        self.umask = u32::from_str_radix(text, 8).unwrap_or_default();
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
                let mode = u32::from_str_radix(value, 8).ok().filter(|mode| mode & self.umask != 0);
                let mode = mode.map_or(word(value), |mode| format!("{:04o}", mode & !self.umask));
                let _ = write!(out, " {ours}({mode})");
            }
        }
        if all.text("filecreatemode").is_none() && FILE_MODE & self.umask != 0 {
            let _ = write!(out, " perm({:04o})", FILE_MODE & !self.umask);
        }
        out
    }

    /// `tls(...)` towards a sender or a receiver.
    pub fn tls(&self, params: &Params, peer: Peer<'_>) -> Result<String, NoCounterpart> {
        let all = params.clone().or(&self.globals);
        let file = |names: &[&str]| names.iter().find_map(|name| all.text(name).map(quoted));
        let wanted = wanted(&all, peer)?;
        let mut options = Vec::new();
        let ca = file(&["streamdriver.cafile", "tls.cacert", "defaultnetstreamdrivercafile"]);
        let key = file(&["streamdriver.keyfile", "tls.myprivkey", "defaultnetstreamdriverkeyfile"]);
        let certificate = file(&["streamdriver.certfile", "tls.mycert", "defaultnetstreamdrivercertfile"]);
        // Whom an authority has signed would be let in beside those whose fingerprints are known.
        let ca = ca.filter(|_| !matches!(wanted, Wanted::Fingerprints(_)));
        options.extend(ca.map(|ca| format!("ca-file({ca})")));
        options.extend(key.map(|key| format!("key-file({key})")));
        options.extend(certificate.map(|file| format!("cert-file({file})")));
        match wanted {
            Wanted::Anybody => options.push("peer-verify(optional-untrusted)".to_owned()),
            Wanted::Trusted => options.push("peer-verify(required-trusted)".to_owned()),
            Wanted::Fingerprints(prints) => {
                let prints: Vec<String> = prints.into_iter().map(quoted).collect();
                options.push(format!("trusted-fingerprints({})", prints.join(" ")));
                options.push("peer-verify(required-trusted)".to_owned());
            }
        }
        Ok(format!("tls({})", options.join(" ")))
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
            "inputfilename"
            | "inputfiletag"
            | "inputfileseverity"
            | "inputfilefacility"
            | "inputfilereadmode"
            | "inputfilebindruleset" => {
                let own = lower.trim_start_matches("input").trim_start_matches("file");
                let own = match own {
                    "name" => "file",
                    "bindruleset" => "ruleset",
                    own => own,
                };
                self.file.set(own, &plain);
            }
            "inputfilestatefile"
            | "inputfilepollinterval"
            | "inputfilepersiststateinterval"
            | "inputfilemaxlinesatonce" => {}
            "inputrunfilemonitor" => {
                self.file.set("type", "imfile");
                return Meant::File(self.file.clone());
            }
            "inputtcpmaxsessions" => return Meant::OfModule("imtcp", "maxsessions", plain),
            "inputtcpserverbindruleset" => return Meant::OfModule("imtcp", "ruleset", plain),
            "inputptcpserverbindruleset" => return Meant::OfModule("imptcp", "ruleset", plain),
            "inputudpserverbindruleset" => return Meant::OfModule("imudp", "ruleset", plain),
            "inputrelpserverbindruleset" => return Meant::OfModule("imrelp", "ruleset", plain),
            "ruleset" => return Meant::Ruleset(plain.to_lowercase()),
            "defaultruleset" => return Meant::DefaultRuleset(plain.to_lowercase()),
            "addunixlistensocket" => return Meant::Input("imuxsock", plain),
            "actionfiledefaulttemplate" => self.file_template = Some(plain),
            "actionforwarddefaulttemplate" | "actionforwarddefaulttemplatename" => {
                self.forward_template = Some(plain);
            }
            "fileowner" | "filegroup" | "filecreatemode" | "dircreatemode" | "dirowner" | "dirgroup" => {
                self.rights.set(&lower, &plain);
            }
            "umask" => self.set_umask(&plain),
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
            "maxmessagesize" => self.globals.set("maxmessagesize", &plain),
            other if other.starts_with("actionqueue") || other.starts_with("mainmsgqueue") => {}
            "actionresumeretrycount" => {}
            other if WITHOUT_EFFECT.contains(&other) => {}
            _ => return Meant::Left("a directive that is not known".to_owned()),
        }
        Meant::Done
    }
}

/// Whom the parameters let in.
fn wanted<'p>(all: &'p Params, peer: Peer<'_>) -> Result<Wanted<'p>, NoCounterpart> {
    const PEERS: [&str; 3] = ["permittedpeer", "streamdriverpermittedpeers", "tls.permittedpeer"];
    let lists = PEERS.iter().flat_map(|name| all.list(name));
    let peers: Vec<&str> =
        lists.flat_map(|list| list.split(',')).map(str::trim).filter(|peer| !peer.is_empty()).collect();
    let mode = ["streamdriverauthmode", "streamdriver.authmode", "tls.authmode"]
        .iter()
        .find_map(|name| all.text(name))
        .map(str::to_lowercase);
    let is_relp = all.is_on("tls") == Some(true);
    let mode = match mode.as_deref() {
        None if is_relp => "anon",
        // A stream driver that is told nothing asks for a name.
        None => "name",
        Some(mode) => mode.strip_prefix("x509/").unwrap_or(mode),
    };
    match mode {
        "anon" => Ok(Wanted::Anybody),
        "certvalid" => Ok(Wanted::Trusted),
        "fingerprint" if !peers.is_empty() => {
            match peers.iter().find(|peer| !peer.starts_with("SHA1:") && !peer.starts_with("SHA256:")) {
                Some(other) => Err(format!("the fingerprint `{other}` of a peer").into()),
                None => Ok(Wanted::Fingerprints(peers)),
            }
        }
        "fingerprint" => Err("peers by their fingerprints, of which none is named".into()),
        "name" => match (peer, peers.as_slice()) {
            // That name is looked at in any case.
            (Peer::Receiver(host), [name]) if name.eq_ignore_ascii_case(host) => Ok(Wanted::Trusted),
            (Peer::Receiver(_), []) if !is_relp => Ok(Wanted::Trusted),
            (_, []) => Err("peers by their names, of which none is named: nobody would be let in".into()),
            (_, names) => Err(format!(
                "only peers with the names {}: alternative names are not looked at, \
                 trusted-dn() takes subjects",
                names.join(", ")
            )
            .into()),
        },
        other => Err(format!("the authentication `{other}`").into()),
    }
}
