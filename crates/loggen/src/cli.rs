//! The `loggen` command: syslog-ng's loggen in options and output, with a few of its own (`--stamp`,
//! `--body`, `--hosts`, `--threads`, `--output-file`) and `loggen verify`.

use std::ffi::OsString;
use std::fs::File;
use std::io::BufWriter;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgAction, CommandFactory, Parser};

use crate::message::{Body, Framing, Style, Syntax};
use crate::progress::{self, Progress, Reporting};
use crate::proxy::{Proxy, Version};
use crate::ring::Ring;
use crate::send::{Load, Replay};
use crate::target::{self, Family, Target};
use crate::wire::Tls;
use stdio::CommandError;

mod verify;

const SIZE_DEFAULT: usize = 256;
const INTERVAL_DEFAULT: u64 = 10;
const RATE_DEFAULT: f64 = 1000.0;
/// Errors named one by one at the end.
const ERRORS_MAX: usize = 10;

/// Generate syslog messages at a given rate, or as fast as they are taken.
#[derive(Debug, Parser)]
#[command(
    name = "loggen",
    disable_version_flag = true,
    after_help = "`loggen verify FILE...` checks stamped messages in a receiver's output."
)]
struct Args {
    /// Use IP-based transport (TCP, UDP); the default when a port is given
    #[arg(short = 'i', long, conflicts_with = "unix")]
    inet: bool,
    /// Use a unix domain socket
    #[arg(short = 'x', long)]
    unix: bool,
    /// Use a stream socket (TCP, unix-stream); the default
    #[arg(short = 'S', long)]
    stream: bool,
    /// Use a datagram socket (UDP, unix-dgram)
    #[arg(short = 'D', long, conflicts_with = "stream")]
    dgram: bool,
    /// Use TLS; whatever certificate the server shows is taken
    #[arg(short = 'U', long)]
    use_ssl: bool,
    /// Certificate to show a server that asks for one (PEM)
    #[arg(long, requires = "use_ssl", requires = "key_file")]
    cert_file: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, requires = "cert_file")]
    key_file: Option<PathBuf>,
    /// Use IPv6 addresses only
    #[arg(short = '6', long)]
    ipv6: bool,

    /// Messages per second and active connection [default: 1000]
    #[arg(short, long, conflicts_with = "perf")]
    rate: Option<f64>,
    /// As fast as the receiver takes them
    #[arg(long)]
    perf: bool,
    /// Size of a message in bytes
    #[arg(short, long, default_value_t = SIZE_DEFAULT)]
    size: usize,
    /// Seconds to run [default: 10, or no limit with --number, --total or --read-file]
    #[arg(short = 'I', long)]
    interval: Option<u64>,
    /// Send without time limit
    #[arg(short = 'T', long)]
    permanent: bool,
    /// Messages to send over each active connection
    #[arg(short, long)]
    number: Option<u64>,
    /// Messages to send over all connections together
    #[arg(long, conflicts_with = "number")]
    total: Option<u64>,
    /// Connections that send
    #[arg(long, default_value_t = 1)]
    active_connections: usize,
    /// Connections that are open and say nothing
    #[arg(long, default_value_t = 0)]
    idle_connections: usize,
    /// Connect again when a connection is lost, which is said at once, and go on with the message that was
    /// being sent
    #[arg(long)]
    reconnect: bool,
    /// Own port of the first connection, the next ones count up
    #[arg(long)]
    client_port: Option<u16>,
    /// Threads to send with
    #[arg(long, default_value_t = 1)]
    threads: usize,

    /// RFC 5424 messages, octet counted over streams
    #[arg(short = 'P', long)]
    syslog_proto: bool,
    /// Octet counting, whatever the message format
    #[arg(long, conflicts_with = "no_framing")]
    framing: bool,
    /// No octet counting
    #[arg(short = 'F', long)]
    no_framing: bool,
    /// STRUCTURED-DATA of RFC 5424 messages, like [test name="value"]
    #[arg(short = 'p', long)]
    sdata: Option<String>,
    /// Text of the messages
    #[arg(long, value_enum, default_value = "padd")]
    body: Body,
    /// Host names to spread messages over (not with --body padd)
    #[arg(long, default_value_t = 1)]
    hosts: u32,
    /// Time stamps of several kinds (not with --body padd)
    #[arg(long)]
    mixed_stamps: bool,
    /// Number every message: conn=<4 digits> seq=<9 digits>, for `loggen verify`
    #[arg(long)]
    stamp: bool,

    /// Send the lines of a file, - is standard input
    #[arg(short = 'R', long)]
    read_file: Option<PathBuf>,
    /// Start the file again at its end
    #[arg(short = 'l', long, requires = "read_file")]
    loop_reading: bool,
    /// Send the lines as they are
    #[arg(short = 'd', long, requires = "read_file")]
    dont_parse: bool,
    /// Words to skip at the beginning of each line
    #[arg(long, default_value_t = 0)]
    skip_tokens: usize,

    /// Print the rate as CSV to standard output
    #[arg(short = 'C', long)]
    csv: bool,
    /// Print only the final average
    #[arg(short = 'Q', short_alias = 'q', long)]
    quiet: bool,
    /// Say what happens to connections
    #[arg(long)]
    debug: bool,
    /// Write the messages to a file instead of sending them (needs --number or --total)
    #[arg(long, conflicts_with_all = ["read_file", "target"])]
    output_file: Option<PathBuf>,

    /// PROXY protocol header, version 1 or 2: -H, -H1, -H2
    #[arg(short = 'H', long, value_name = "VERSION")]
    proxied: Option<u8>,
    #[arg(long)]
    proxy_src_ip: Option<IpAddr>,
    #[arg(long)]
    proxy_dst_ip: Option<IpAddr>,
    #[arg(long)]
    proxy_src_port: Option<u16>,
    #[arg(long)]
    proxy_dst_port: Option<u16>,
    /// PROXY header before the TLS handshake, not inside the session
    #[arg(long, requires = "proxied")]
    proxied_tls_passthrough: bool,

    #[arg(long, hide = true, action = ArgAction::Help)]
    help_all: Option<bool>,
    #[arg(long, hide = true, action = ArgAction::Help)]
    help_socket_plugin: Option<bool>,
    #[arg(long, hide = true, action = ArgAction::Help)]
    help_ssl_plugin: Option<bool>,
    #[arg(long, hide = true, action = ArgAction::Help)]
    help_file_reader: Option<bool>,

    /// HOST PORT, or the path of a unix socket
    target: Vec<String>,
}

/// Its options, for manual pages and completions.
pub fn command_line() -> clap::Command {
    <Args as clap::CommandFactory>::command()
}

/// Runs the command; `args` are those after the command's name.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let mut args: Vec<OsString> = args.collect();
    if args.first().is_some_and(|first| first == "verify") {
        return verify::run(args.split_off(1));
    }
    let args = std::iter::once(OsString::from("loggen")).chain(args.into_iter().map(spell_proxied));
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            stdio::note(error.print());
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    match prepare(&args).and_then(|load| work(&args, &load)) {
        Ok(code) => code,
        Err(error) => error.at("loggen").report(),
    }
}

/// `-H` takes its value only attached, so that `-H host` keeps the host; the parser knows no such options.
fn spell_proxied(arg: OsString) -> OsString {
    match arg.to_str() {
        Some("-H" | "-H1" | "--proxied") => "--proxied=1".into(),
        Some("-H2") => "--proxied=2".into(),
        _ => arg,
    }
}

fn prepare(args: &Args) -> Result<Load, CommandError> {
    let mut load = Load::new(destination(args)?);
    load.style = style(args, load.target.is_stream())?;
    load.connections = args.active_connections;
    load.idle = args.idle_connections;
    load.total = match args.number {
        Some(number) => {
            Some(number.checked_mul(args.active_connections as u64).ok_or("--number is too large")?)
        }
        None => args.total,
    };
    // The original stops after its 10 seconds beside --number too, which cuts a run short without a word.
    let limited = args.interval.is_some() || (load.total.is_none() && args.read_file.is_none());
    let interval = Duration::from_secs(args.interval.unwrap_or(INTERVAL_DEFAULT));
    load.duration = (limited && !args.permanent).then_some(interval);
    load.rate = (!args.perf).then_some(args.rate.unwrap_or(RATE_DEFAULT));
    load.threads = args.threads;
    load.reconnect = args.reconnect;
    load.client_port = args.client_port;
    load.debug = args.debug;
    load.proxy = proxy(args)?;
    load.proxy_in_clear = args.proxied_tls_passthrough;
    let identity = args.cert_file.as_deref().zip(args.key_file.as_deref());
    load.tls = args.use_ssl.then(|| Tls::new(identity)).transpose()?;
    load.replay = args.read_file.as_ref().map(|path| Replay {
        path: path.clone(),
        again: args.loop_reading,
        raw: args.dont_parse,
        skip_tokens: args.skip_tokens,
        frame_raw: args.framing,
    });
    Ok(load)
}

fn style(args: &Args, stream: bool) -> Result<Style, CommandError> {
    let syntax = if args.syslog_proto { Syntax::Rfc5424 } else { Syntax::Rfc3164 };
    let body = args.body;
    if body == Body::Padd && (args.hosts > 1 || args.mixed_stamps) {
        return Err("--hosts and --mixed-stamps need another --body".into());
    }
    if args.sdata.is_some() && syntax == Syntax::Rfc3164 {
        return Err("--sdata needs --syslog-proto".into());
    }
    let counted = args.framing || (args.syslog_proto && !args.no_framing && stream);
    if args.framing && !stream {
        return Err("--framing is for stream sockets; a datagram is a frame".into());
    }
    let mut style = Style::new(syntax, body, args.size);
    style.framing = if counted { Framing::OctetCount } else { Framing::Newline };
    style.hosts = args.hosts;
    style.mixed_stamps = args.mixed_stamps;
    style.sdata = args.sdata.clone();
    style.stamp = args.stamp;
    Ok(style)
}

fn destination(args: &Args) -> Result<Target, CommandError> {
    if args.output_file.is_some() {
        return Ok(Target::UnixStream(PathBuf::new()));
    }
    let unix = args.unix || (!args.inet && args.target.len() == 1 && args.target[0].contains('/'));
    match (args.target.as_slice(), unix) {
        ([path], true) if args.dgram => Ok(Target::UnixDgram(path.into())),
        ([path], true) => Ok(Target::UnixStream(path.into())),
        ([host, port], false) => {
            let port = port.parse().map_err(|_| format!("{port} is not a port number"))?;
            let address = target::resolve(host, port, if args.ipv6 { Family::V6 } else { Family::Any })?;
            Ok(if args.dgram { Target::Udp(address) } else { Target::Tcp(address) })
        }
        (_, true) => Err("a unix socket is given by its path".into()),
        (_, false) => Err(format!(
            "no target given: HOST PORT, or the path of a unix socket\n\n{}",
            Args::command().render_usage()
        )
        .into()),
    }
}

fn proxy(args: &Args) -> Result<Option<Proxy>, CommandError> {
    let version = match args.proxied {
        None => return Ok(None),
        Some(1) => Version::V1,
        Some(2) => Version::V2,
        Some(other) => return Err(format!("there is no PROXY protocol version {other}: 1 or 2").into()),
    };
    Ok(Some(Proxy {
        version,
        src_ip: args.proxy_src_ip,
        dst_ip: args.proxy_dst_ip,
        src_port: args.proxy_src_port,
        dst_port: args.proxy_dst_port,
    }))
}

fn work(args: &Args, load: &Load) -> Result<ExitCode, CommandError> {
    let least = Ring::new(&load.style).message_len();
    if load.replay.is_none() && least != args.size {
        stdio::err!("warning: message length {} is not possible, messages have {least} bytes", args.size);
    }
    if let Some(path) = &args.output_file {
        if load.total.is_none() {
            return Err("--output-file needs --number or --total".into());
        }
        let failed = |e| format!("cannot write {}: {e}", path.display());
        let file = File::create(path).map_err(failed)?;
        load.write_to(&mut BufWriter::with_capacity(1 << 20, file)).map_err(failed)?;
        return Ok(ExitCode::SUCCESS);
    }
    let reporting = match (args.csv, args.quiet) {
        (true, _) => Reporting::Csv,
        (false, true) => Reporting::Quiet,
        (false, false) => Reporting::Live,
    };
    let progress = Progress::new(load.connections);
    let outcome = std::thread::scope(|scope| {
        let reporter = scope.spawn(|| progress::report(&progress, reporting));
        let outcome = load.run_with(&progress);
        progress.finish();
        reporter.thread().unpark();
        outcome
    })?;
    outcome.errors.iter().take(ERRORS_MAX).for_each(|error| stdio::err!("error: {error}"));
    if outcome.errors.len() > ERRORS_MAX {
        stdio::err!("and {} more errors", outcome.errors.len() - ERRORS_MAX);
    }
    stdio::err!("{}", progress::average(outcome.messages, outcome.bytes, outcome.elapsed));
    Ok(if outcome.errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests;
