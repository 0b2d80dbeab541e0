//! The `{writer}`, `{tmpl}`, `{dest}` and `{perm}` option groups, read once for every writer destination.

use super::{disk_buffer, sealing};
use crate::writer::{MarkMode, Marks, Suppress, Writer};
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Reported};
use driver_options::templates::{compile, type_hint};
use engine::QueueLimits;
use engine::driver::BuildContext;
use std::sync::Arc;
use std::time::Duration;
use template::{OnError, Template, TemplateOptions, TsFormat};

/// What a destination writes when its template() is not given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Stamp, host, header, message: files, pipes, programs, terminals.
    File,
    /// The same behind `<PRI>`, always with the BSD stamp: network and unix sockets.
    Network,
    /// RFC 5424.
    Protocol,
}

/// Messages that may wait at a destination that does not move, unless log-fifo-size() says otherwise:
/// syslog-ng's number.
const FIFO_SIZE: usize = 10_000;

pub fn limits(s: &Settings) -> QueueLimits {
    QueueLimits { messages_max: s.int("log-fifo-size").map_or(FIFO_SIZE, |n| n.max(1) as usize) }
}

/// By what a destination is known to its successor in a reload, and to what it keeps: its persist-name(), or
/// what stands for it.
pub fn key(s: &Settings, writer: &mut Writer, otherwise: impl FnOnce() -> String) -> String {
    let key = s.text("persist-name").map_or_else(otherwise, str::to_owned);
    writer.key = Some(key.clone());
    key
}

pub fn template_options(s: &Settings, cx: &BuildContext<'_>) -> TemplateOptions {
    TemplateOptions {
        ts_format: s.choice("ts-format").and_then(TsFormat::named).unwrap_or_default(),
        frac_digits: s.int("frac-digits").unwrap_or(0).clamp(0, 9) as u8,
        time_zone: s.zone("time-zone").cloned(),
        local_time_zone: s.zone("local-time-zone").cloned(),
        escape: s.bool("template-escape").unwrap_or(false),
        escape_arguments: false,
        on_error: s.choice("on-error").and_then(OnError::named).unwrap_or_default(),
        version: cx.version,
        may_seal: false,
    }
}

/// The writer of a destination.
pub fn writer(
    s: &Settings,
    cx: &BuildContext<'_>,
    layout: Layout,
    diags: &mut Diagnostics,
) -> Result<Writer, Reported> {
    let options = template_options(s, cx);
    let layout = if s.flag("flags", "syslog-protocol") { Layout::Protocol } else { layout };
    let own = template(s, cx, layout, &options, diags)?;
    let is_default = own.is_none();
    let template = match (own, layout) {
        (Some(own), Layout::Protocol) => Arc::new(template::layout::syslog_protocol_with(&options, own)),
        (Some(own), _) => own,
        (None, Layout::Protocol) => Arc::new(template::layout::syslog_protocol(&options)),
        (None, Layout::File) => Arc::new(template::layout::file_default(&options)),
        (None, Layout::Network) => Arc::new(template::layout::network_default(&options)),
    };
    let mut writer = Writer::new(template, cx.identity);
    writer.no_multi_line = s.flag("flags", "no-multi-line");
    let pad_size = s.size("pad-size").unwrap_or(0) as usize;
    // As in syslog-ng, only the default layouts are filled up.
    writer.pad_size = if is_default { pad_size } else { 0 };
    writer.truncate_size = s.size("truncate-size").unwrap_or(0) as usize;
    writer.flush_lines = s.int("flush-lines").unwrap_or(0).max(0) as usize;
    writer.throttle = throttle(s);
    let within = s.seconds("suppress").map_or(0, |d| d.as_secs() as i64);
    writer.suppress = (within > 0).then(|| Suppress::new(within));
    writer.marks = marks(s, cx);
    writer.disk_buffer = disk_buffer::read(s, cx, diags)?;
    // Numbering is on unless it is switched off; `seqnum` only takes `no-seqnum` back.
    let (on, off) = (s.flag("flags", "seqnum"), s.flag("flags", "no-seqnum"));
    let (all, not_all) = (s.flag("flags", "seqnum-all"), s.flag("flags", "no-seqnum-all"));
    writer.numbers = on || all || !off;
    writer.numbers_all = all && !not_all;
    sealing::check(&writer, s.template("template").map(|text| text.span), s, cx, diags)?;
    Ok(writer)
}

/// `throttle()`: the most messages a second, 0 for no limit.
pub fn throttle(s: &Settings) -> u32 {
    s.int("throttle").map_or(0, |n| n.clamp(0, i64::from(u32::MAX)) as u32)
}

/// `time-reopen()`: never so short that failing over and over keeps a core busy.
pub fn time_reopen(s: &Settings) -> Duration {
    s.seconds("time-reopen").unwrap_or(Duration::from_secs(60)).max(TIME_REOPEN_MIN)
}

const TIME_REOPEN_MIN: Duration = Duration::from_millis(100);

fn marks(s: &Settings, cx: &BuildContext<'_>) -> Marks {
    // `global` refers to the global option; there, it means the preset.
    let own = s.choice("mark-mode").and_then(MarkMode::named);
    let global = || cx.globals.choice("mark-mode").and_then(MarkMode::named).unwrap_or(MarkMode::HostIdle);
    Marks { mode: own.unwrap_or_else(global), freq: s.seconds("mark-freq").unwrap_or_default() }
}

/// The template the configuration gives, the driver's or the global one, where there is one.
fn template(
    s: &Settings,
    cx: &BuildContext<'_>,
    layout: Layout,
    options: &TemplateOptions,
    diags: &mut Diagnostics,
) -> Result<Option<Arc<Template>>, Reported> {
    let global = match layout {
        Layout::File => cx.globals.template("file-template"),
        Layout::Network => cx.globals.template("proto-template"),
        Layout::Protocol => None,
    };
    let Some(text) = s.template("template").or(global) else { return Ok(None) };
    let options = TemplateOptions { may_seal: true, ..options.clone() };
    let made = compile(&text.text, text.span, &options, cx, diags)?;
    if is_a_name(&text.text) && cx.scope.template(&text.text).is_none() {
        let finding = format!("there is no template `{}`; each message becomes just this text", text.text);
        let help = "define it: `template NAME { template(\"...\"); };`, or write the template itself with its macros";
        diags.push(Diagnostic::warning("D0106", finding, text.span).help(help));
    }
    if let Some(hint) = &text.type_hint {
        // A type changes nothing in a line of text, but a wrong one is an error all the same.
        type_hint(hint, diags)?;
    }
    Ok(Some(made))
}

/// Nobody wants a word in the place of each message.
fn is_a_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}
