//! The options of sources that read files.

use super::FileStart;
use super::follow::Following;
use super::port::{PortOptions, Records};
use super::tail::TailOptions;
use super::wanted::{Matching, Wanted};
use crate::inotify::Method;
use crate::multi_line::multi_line;
use crate::reading::{Defaults, Reading, local_name, padded};
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Reported};
use engine::driver::{BuildContext, SourceDriver};
use engine::source::{Carrier, Finish, Settings as SourceSettings};
use parking_lot::Mutex;
use pattern::{Cache, Kind, Pattern, PatternOptions};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use wire::{FramerOptions, Framing};

/// What tells the sources of files apart.
pub struct FileVariant {
    pub driver: &'static str,
    pub wanted: Wanted,
    pub files_max: usize,
    /// The word of monitor-method() or follow-method().
    pub method: Option<&'static str>,
    pub list_freq: Option<Duration>,
    /// Path or pattern, for statistics.
    pub shown: PathBuf,
    /// Reads the kernel's messages.
    pub is_kernel: bool,
}

pub fn source(
    s: &Settings,
    cx: &BuildContext<'_>,
    variant: FileVariant,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    let FileVariant { driver, wanted, files_max, method, list_freq, shown, is_kernel } = variant;
    let defaults =
        Defaults { framing: padded(s), syslog_protocol: false, expect_hostname: !is_kernel, local: true };
    let mut reading = Reading::new(s, cx, &defaults, diags);
    reading.syslog.flags.kernel |= is_kernel;
    if matches!(wanted, Wanted::Matching(_)) {
        reading.share_window(files_max, cx.globals);
    }
    let period = s.seconds("follow-freq").filter(|t| !t.is_zero()).unwrap_or(Duration::from_secs(1));
    let multi_line = multi_line(s, diags)?;
    let timeout = s.seconds("multi-line-timeout").filter(|t| !t.is_zero());
    let method = match method {
        Some("inotify") => Method::Inotify,
        Some("poll") => Method::Poll,
        _ => Method::Auto,
    };
    let read_old = s.bool("read-old-records").unwrap_or(true);
    let shown = shown.display().to_string();
    let key = reading.persist_name.clone().unwrap_or_else(|| format!("affile_sd_curpos({shown})"));
    let opened_with = format!(
        "{shown} {driver} {files_max} {method:?} {period:?} {list_freq:?} {read_old} {timeout:?} {} {} {}",
        multi_line.as_ref().map(|(_, text)| text.as_str()).unwrap_or_default(),
        reading.fixed(),
        matching_text(&wanted),
    );
    let (parsing, finish, share) = (reading.syslog.clone(), reading.finish.clone(), reading.share);
    let following = Following {
        wanted,
        files_max,
        read_old,
        key: key.clone(),
        method,
        period,
        list_period: list_freq.unwrap_or(Duration::ZERO),
        tail: Arc::new(TailOptions {
            framing: reading.framing,
            multi_line: multi_line.map(|(mode, _)| mode),
            encoding: reading.encoding,
        }),
        port: Arc::new(PortOptions {
            fetch_limit: reading.fetch_limit,
            window_messages: reading.window_messages,
            multi_line_timeout: timeout,
            records: None,
        }),
        group: Arc::clone(&reading.group),
        local_name: Arc::clone(&reading.local_name),
    };
    Ok(SourceDriver {
        key,
        opened_with,
        driver,
        instance: shown,
        carrier: Carrier::Files,
        settings: Box::new(move |program| {
            SourceSettings::new(parsing.clone(), finish.clone(), program).shared(share)
        }),
        start: Box::new(FileStart { following: Arc::new(following), reading: Some(reading) }),
    })
}

/// A file of records of one size, which somebody makes messages of.
pub struct RecordFile {
    pub driver: &'static str,
    pub path: PathBuf,
    pub record_bytes: u32,
    pub records: Arc<dyn Records>,
    pub finish: Finish,
}

/// The source of such a file: follow-freq(), read-old-records(), and what each source has.
pub fn record_source(s: &Settings, cx: &BuildContext<'_>, file: RecordFile) -> SourceDriver {
    let RecordFile { driver, path, record_bytes, records, finish } = file;
    let local_name: Arc<str> = local_name(s, cx.globals).into();
    let window_messages = s.int("log-iw-size").map(|n| n.max(1) as usize);
    let period = s.seconds("follow-freq").filter(|t| !t.is_zero()).unwrap_or(Duration::from_secs(1));
    let read_old = s.bool("read-old-records").unwrap_or(true);
    let shown = path.display().to_string();
    let key = s.text("persist-name").map_or_else(|| format!("affile_sd_curpos({shown})"), str::to_owned);
    let opened_with = format!(
        "{} {shown} {driver} {record_bytes} {period:?} {read_old} {window_messages:?} {local_name}",
        cx.group
    );
    let framing = FramerOptions {
        framing: Framing::Blocks(record_bytes),
        log_msg_size: record_bytes as usize,
        empty_lines: false,
        trim_large_messages: false,
        is_text: false,
    };
    let following = Following {
        wanted: Wanted::One(path),
        files_max: 1,
        read_old,
        key: key.clone(),
        method: Method::Auto,
        period,
        list_period: Duration::ZERO,
        tail: Arc::new(TailOptions { framing, multi_line: None, encoding: None }),
        port: Arc::new(PortOptions {
            fetch_limit: None,
            window_messages,
            multi_line_timeout: None,
            records: Some(records),
        }),
        group: cx.group.into(),
        local_name,
    };
    SourceDriver {
        key,
        opened_with,
        driver,
        instance: shown,
        carrier: Carrier::Files,
        settings: Box::new(move |program| SourceSettings::ready_made(finish.clone(), program)),
        start: Box::new(FileStart { following: Arc::new(following), reading: None }),
    }
}

/// A folder and a glob for the names in it. `option` is where the glob stands.
pub fn matching(
    s: &Settings,
    option: &str,
    base: PathBuf,
    name: &str,
    exclude: Option<&str>,
    recursive: bool,
    diags: &mut Diagnostics,
) -> Result<Wanted, Reported> {
    let mut glob = |text: &str, option: &str| {
        let options = PatternOptions { kind: Kind::Glob, ..PatternOptions::default() };
        match Pattern::compile(text, &options) {
            Ok(pattern) => Ok(pattern),
            Err(error) => {
                let span = s.span(option).or(s.call_span()).ok_or(Reported)?;
                diags.push(Diagnostic::error("D0111", format!("wrong pattern of file names: {error}"), span));
                Err(Reported)
            }
        }
    };
    let name = glob(name, option)?;
    let exclude = match exclude {
        Some(text) => Some(glob(text, "exclude-pattern")?),
        None => None,
    };
    Ok(Wanted::Matching(Arc::new(Matching {
        base,
        recursive,
        name,
        exclude,
        cache: Mutex::new(Cache::new()),
    })))
}

fn matching_text(wanted: &Wanted) -> String {
    match wanted {
        Wanted::One(_) => String::new(),
        Wanted::Matching(m) => {
            let exclude = m.exclude.as_ref().map(Pattern::text);
            format!("{:?} {} {} {exclude:?}", m.base, m.name.text(), m.recursive)
        }
    }
}
