//! The `{source}` and `{reader}` option groups, read once for every source that parses messages.

use super::senders::Naming;
use conf_schema::{Settings, Switch};
use diag::{Diagnostic, Diagnostics};
use engine::Share;
use engine::driver::BuildContext;
use engine::source::Finish;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use transport::{DnsOptions, NameUse, Resolver};
use wire::{FramerOptions, Framing, ParseFlags, SyslogOptions};

/// From this version on messages on unix sockets and pipes are expected as programs send them to syslog:
/// without a host name.
pub const NO_HOSTNAME_SINCE: (u16, u16) = (3, 2);

/// What a source needs beside its descriptor.
#[derive(Clone)]
pub struct Reading {
    pub syslog: SyslogOptions,
    pub finish: Finish,
    pub framing: FramerOptions,
    pub encoding: Option<conf_schema::Encoding>,
    pub idle_timeout: Option<Duration>,
    /// `log-iw-size()` of a source that reads one thing.
    pub window_messages: Option<usize>,
    /// The same where many connections or files share it.
    pub share: Option<Share>,
    pub fetch_limit: Option<usize>,
    pub naming: Naming,
    pub group: Arc<str>,
    /// This machine's name as HOST_FROM of local messages.
    pub local_name: Arc<str>,
    /// `flags(ignore-aux-data)` was not given.
    pub credentials: bool,
    pub persist_name: Option<String>,
}

/// How one kind of source differs from the next before any option is read.
pub struct Defaults {
    pub framing: Framing,
    pub syslog_protocol: bool,
    pub expect_hostname: bool,
    pub local: bool,
}

impl Reading {
    /// Of a source that reads streams, files or datagrams.
    pub fn new(s: &Settings, cx: &BuildContext<'_>, defaults: &Defaults, diags: &mut Diagnostics) -> Reading {
        let mut reading = Reading::whole_messages(s, cx, defaults, diags);
        reading.framing.log_msg_size = s.size("log-msg-size").unwrap_or(65_536) as usize;
        reading.framing.trim_large_messages = s.bool("trim-large-messages").unwrap_or(false);
        reading.fetch_limit = s.int("log-fetch-limit").map(|n| n.max(1) as usize);
        reading
    }

    /// Of a source whose messages come whole from another program that keeps them.
    pub fn whole_messages(
        s: &Settings,
        cx: &BuildContext<'_>,
        defaults: &Defaults,
        diags: &mut Diagnostics,
    ) -> Reading {
        let flags = parse_flags(s, defaults);
        let local_name = local_name(s, cx.globals);
        let sdata_prefix = s.text("sdata-prefix").unwrap_or(wire::sdata::PREFIX);
        cx.scope.sets(sdata_prefix);
        Reading {
            syslog: SyslogOptions {
                flags,
                default_pri: record::pri::join(
                    s.number("default-facility").unwrap_or(1),
                    s.number("default-severity").unwrap_or(5),
                ),
                recv_zone: s.zone("time-zone").cloned().unwrap_or_else(record::Zone::local),
                sdata_prefix: sdata_prefix.into(),
                bad_hostname: bad_hostname(s, cx, diags),
                check_hostname: s.bool("check-hostname").unwrap_or(false),
                check_program: s.bool("check-program").unwrap_or(false),
                keep_timestamp: s.bool("keep-timestamp").unwrap_or(true),
                local: defaults.local,
                again: false,
            },
            finish: finish(s, cx, defaults.local, diags),
            framing: FramerOptions {
                framing: defaults.framing,
                log_msg_size: 0,
                empty_lines: s.flag("flags", "empty-lines"),
                trim_large_messages: false,
                is_text: s.encoding("encoding").is_some(),
            },
            encoding: s.encoding("encoding"),
            idle_timeout: None,
            window_messages: s.int("log-iw-size").map(|n| n.max(1) as usize),
            share: None,
            fetch_limit: None,
            naming: naming(s, cx.globals),
            group: cx.group.into(),
            local_name: local_name.into(),
            credentials: !s.flag("flags", "ignore-aux-data"),
            persist_name: s.text("persist-name").map(str::to_owned),
        }
    }
}

impl Reading {
    /// Of a source that makes whole records of what comes over connections.
    pub fn ready_made(s: &Settings, cx: &BuildContext<'_>, finish: Finish) -> Reading {
        let _ = s.bool("keep-timestamp");
        Reading {
            syslog: SyslogOptions::default(),
            finish,
            framing: FramerOptions {
                framing: Framing::Lines,
                log_msg_size: 0,
                empty_lines: false,
                trim_large_messages: false,
                is_text: false,
            },
            encoding: None,
            idle_timeout: s.seconds("idle-timeout").filter(|t| !t.is_zero()),
            window_messages: s.int("log-iw-size").map(|n| n.max(1) as usize),
            share: None,
            fetch_limit: None,
            naming: naming(s, cx.globals),
            group: cx.group.into(),
            local_name: local_name(s, cx.globals).into(),
            credentials: false,
            persist_name: s.text("persist-name").map(str::to_owned),
        }
    }

    /// All connections have log-iw-size() together. It can change while they are open.
    pub fn share_window(&mut self, seats: usize, globals: &Settings) {
        let fair_min = globals.int("min-iw-size-per-reader").unwrap_or(100).max(1) as usize;
        self.share = self.window_messages.take().map(|messages| Share { messages, seats, fair_min });
    }

    /// Everything that is fixed when descriptors are opened and connections accepted: when it differs after a
    /// reload, they are opened anew.
    pub fn fixed(&self) -> String {
        let Reading { framing, encoding, idle_timeout, window_messages, fetch_limit, naming, group, .. } =
            self;
        let encoding = encoding.map(|e| e.name());
        format!(
            "{group} {framing:?} {encoding:?} {idle_timeout:?} {window_messages:?} {fetch_limit:?} {naming:?} {} {}",
            self.local_name, self.credentials
        )
    }
}

/// Lines, or with `pad-size()` records of one size.
pub fn padded(s: &Settings) -> Framing {
    match s.size("pad-size").and_then(|size| u32::try_from(size).ok()) {
        None | Some(0) => Framing::Lines,
        Some(size) => Framing::Records(size),
    }
}

/// Where a driver stands in the configuration, as messages show it.
pub fn location(s: &Settings, cx: &BuildContext<'_>) -> String {
    s.call_span().map(|span| cx.sources.locate(span).to_string()).unwrap_or_default()
}

fn parse_flags(s: &Settings, defaults: &Defaults) -> ParseFlags {
    let flag = |word: &str| s.flag("flags", word);
    // `format()` has one value that works, `syslog`, which is what happens anyway.
    let _ = s.choice("format");
    ParseFlags {
        no_parse: flag("no-parse"),
        syslog_protocol: flag("syslog-protocol") || defaults.syslog_protocol,
        assume_utf8: flag("assume-utf8"),
        validate_utf8: flag("validate-utf8"),
        sanitize_utf8: flag("sanitize-utf8"),
        no_multi_line: flag("no-multi-line"),
        store_legacy_msghdr: flag("store-legacy-msghdr") | !flag("dont-store-legacy-msghdr"),
        store_raw_message: flag("store-raw-message"),
        expect_hostname: (flag("expect-hostname") | defaults.expect_hostname) & !flag("no-hostname"),
        guess_timezone: flag("guess-timezone"),
        check_hostname: flag("check-hostname"),
        check_program: flag("check-program"),
        no_header: flag("no-header"),
        no_rfc3164_fallback: flag("no-rfc3164-fallback"),
        piggyback_errors: flag("piggyback-errors") | !flag("no-piggyback-errors"),
        kernel: flag("kernel"),
    }
}

/// The part of the `{source}` group that has nothing to act on where messages are made here, now: there is no
/// sender to look up and no stamp but ours.
pub fn made_here(s: &Settings) {
    let _ = (s.switch("use-dns"), s.bool("dns-cache"), s.bool("keep-timestamp"));
}

/// The `{source}` group alone, for sources that make their messages themselves.
pub fn finish(s: &Settings, cx: &BuildContext<'_>, local: bool, diags: &mut Diagnostics) -> Finish {
    let mut finish = Finish {
        keep_hostname: s.bool("keep-hostname").unwrap_or(false),
        chain_hostnames: s.bool("chain-hostnames").unwrap_or(false),
        local,
        host_override: s.text("host-override").map(|t| t.as_bytes().into()),
        program_override: program_override(s).map(|t| t.as_bytes().into()),
        own_pid: s.bool("use-syslogng-pid").unwrap_or(false),
        numbered: cx.globals.bool("use-uniqid").unwrap_or(false),
        group: cx.group.into(),
        ..Finish::default()
    };
    let group = format!(".source.{}", cx.group);
    // Tags are listed in the order in which they were named; as in syslog-ng the source's own comes after
    // those of its options (golden case parse/overrides).
    for tag in s.list("tags").iter().map(|t| t.text.as_str()).chain(std::iter::once(group.as_str())) {
        match record::tag_id(tag) {
            Some(id) => finish.add_tag(id),
            None => {
                let Some(span) = s.call_span() else { continue };
                diags.push(
                    Diagnostic::error("D0101", "the table of tags is full", span)
                        .help("use fewer different tags"),
                );
            }
        }
    }
    finish
}

/// `program-override()`, else what `log-prefix("program: ")` means by it.
fn program_override(s: &Settings) -> Option<&str> {
    let old = s.text("log-prefix").map(|text| text.rsplit_once(':').map_or(text, |(program, _)| program));
    s.text("program-override").or(old)
}

/// This machine's name as `use-fqdn()` and its companions want it.
pub fn local_name(s: &Settings, globals: &Settings) -> String {
    let domain = globals.text("custom-domain");
    let mut name = transport::local_host_name(s.bool("use-fqdn").unwrap_or(false), domain);
    if s.bool("normalize-hostnames").unwrap_or(false) {
        name.make_ascii_lowercase();
    }
    name
}

pub fn naming(s: &Settings, globals: &Settings) -> Naming {
    let seconds =
        |name: &str, otherwise: u64| globals.seconds(name).unwrap_or(Duration::from_secs(otherwise));
    let options = DnsOptions {
        cache: s.bool("dns-cache").unwrap_or(true),
        cache_size: globals.int("dns-cache-size").unwrap_or(1007).max(1) as usize,
        expire: seconds("dns-cache-expire", 3600),
        expire_failed: seconds("dns-cache-expire-failed", 60),
        hosts: globals.path("dns-cache-hosts").map(PathBuf::from),
    };
    Naming {
        resolver: Resolver::shared(options),
        use_dns: match s.switch("use-dns") {
            Some(Switch::No) => NameUse::No,
            Some(Switch::Word(_)) => NameUse::PersistOnly,
            _ => NameUse::Yes,
        },
        use_fqdn: s.bool("use-fqdn").unwrap_or(false),
        normalize_hostnames: s.bool("normalize-hostnames").unwrap_or(false),
    }
}

fn bad_hostname(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Option<wire::syslog::HostMatcher> {
    let text = cx.globals.text("bad-hostname")?;
    match pattern::Pattern::compile(text, &pattern::PatternOptions::default()) {
        Ok(pattern) => {
            let cache = parking_lot::Mutex::new(pattern::Cache::default());
            Some(Arc::new(move |host: &[u8]| pattern.is_match(host, &mut cache.lock())))
        }
        Err(error) => {
            let span = cx.globals.span("bad-hostname").or(s.call_span())?;
            diags.push(Diagnostic::error("D0102", format!("wrong bad-hostname() expression: {error}"), span));
            None
        }
    }
}
