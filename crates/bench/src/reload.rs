//! `bench reload`: many reloads under load over TCP, UDP and TLS, every fifth of them invalid. Nothing may be
//! lost, no connection closed, and the pauses that receivers behind see are measured.

mod pauses;
mod sink;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use loggen::verify::{Expected, verify_files};

use crate::command;
use crate::control::ask;
use crate::place::Place;
use crate::process::Process;
use crate::receiver::{Command, Programs};
use crate::sender::Sender;
use pauses::Pauses;
use sink::Sink;
use stdio::CommandError;

/// Every so many reloads the configuration is wrong.
const WRONG_EVERY: u32 = 5;
/// What waits in buffers when the senders have ended is there by then.
const SETTLE_MAX: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);
/// Beyond the answer to a reload, so long a pause counts as its own.
const AFTERMATH: Duration = Duration::from_millis(100);
/// The aim.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Reload under load: 100 reloads in 100 seconds, every fifth configuration wrong, 50,000 messages a second
/// over TCP, UDP and TLS.
#[derive(Debug, Parser)]
#[command(name = "bench reload", disable_version_flag = true)]
struct Args {
    /// Reloads, evenly spread over the time
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    reloads: u32,
    /// Seconds of load
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Messages a second, two fifths each by TCP and TLS, one by UDP
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(10..))]
    rate: u32,
    /// Folder to work in [default: the system's folder for temporary files]
    #[arg(long)]
    work_dir: Option<PathBuf>,
    /// Keep what was written
    #[arg(long)]
    keep: bool,
}

/// One way in, and the sink behind it.
struct Way {
    name: &'static str,
    connections: usize,
    rate: u32,
    port: u16,
    sink: Sink,
}

/// Runs the command; `args` are those after its name.
pub fn run(args: Vec<OsString>) -> ExitCode {
    command::run("bench reload", args, measure)
}

fn measure(args: &Args) -> Result<bool, CommandError> {
    let parent = args.work_dir.clone().unwrap_or_else(std::env::temp_dir);
    let place = Place::new(&parent, "reload", args.keep)?;
    let programs = Programs::find();
    let program = programs.penstock.clone().ok_or("penstock is not here")?;
    crate::receiver::certificates(&place, &programs)?;
    let ways = [("tcp", 10, args.rate / 5 * 2), ("udp", 2, args.rate / 5), ("tls", 10, args.rate / 5 * 2)];
    let mut opened = Vec::new();
    for (name, connections, rate) in ways {
        let port = crate::place::free_port()?;
        let sink = Sink::open(place.output.join(format!("{name}.log")))?;
        opened.push(Way { name, connections, rate, port, sink });
    }
    let config = place.write("reload.conf", &text(&opened, &place, 0))?;
    let state = place.root.join("state");
    std::fs::create_dir_all(&state).map_err(|e| format!("{}: {e}", state.display()))?;
    let words = ["run".into(), "--config".into(), config.into(), "--state-dir".into(), state.clone().into()];
    let command = Command { program, args: words.to_vec() };
    let mut process = Process::start(&command, place.root.join("receiver.log"))?;
    for way in &opened {
        process.wait_listening(way.port, way.name == "udp")?;
    }
    let mut senders = Vec::new();
    for way in &opened {
        senders.push(Sender::spawn(load(way, args.seconds))?);
    }
    let pauses = reloads(args, &opened, &place, &state.join("penstock.ctl"))?;
    let mut sent = Vec::new();
    for mut sender in senders {
        if !sender.wait(SETTLE_MAX) {
            return Err("a sender does not end".into());
        }
        sent.push(sender.sent()?);
    }
    settle(&opened, &sent);
    let ledger = ask(&state.join("penstock.ctl"), "LEDGER JSON")?;
    if !process.alive() {
        return Err(format!("ended by itself: {}", process.words()).into());
    }
    // What is behind saw one connection: that of a destination that never changed.
    let same = opened.iter().all(|way| way.sink.connections() == 1);
    process.stop();
    judge(opened, &sent, &pauses, &Found { ledger, same }, args)
}

/// The arguments of `loggen`.
fn load(way: &Way, seconds: u64) -> Vec<OsString> {
    let rate = f64::from(way.rate) / way.connections as f64;
    let mut words: Vec<String> =
        ["--inet", "--stamp", "--quiet", "--body=text", "--size=400"].map(String::from).to_vec();
    words.push(format!("--rate={rate}"));
    words.push(format!("--interval={seconds}"));
    words.push(format!("--active-connections={}", way.connections));
    words.push(if way.name == "udp" { "--dgram" } else { "--stream" }.into());
    if way.name == "tls" {
        words.push("--use-ssl".into());
    }
    words.extend(["127.0.0.1".into(), way.port.to_string()]);
    words.into_iter().map(OsString::from).collect()
}

/// Each round has other tags, another filter and, in every second, a further destination.
fn text(ways: &[Way], place: &Place, round: u32) -> String {
    let mut text = String::from("@version: 4.11\noptions { keep-hostname(yes); use-dns(no); };\n");
    let certificates = place.certificates();
    for Way { name, port, sink, .. } in ways {
        let transport = match *name {
            "tls" => format!(
                "transport(\"tls\") tls(key-file(\"{0}/localhost.key\") cert-file(\"{0}/localhost.pem\") \
                 peer-verify(optional-untrusted))",
                certificates.display()
            ),
            other => format!("transport(\"{other}\")"),
        };
        let host = format!("no-such-host-{round}");
        text.push_str(&format!(
            "source s_{name} {{ network(ip(127.0.0.1) port({port}) max-connections(100) tags(\"t{round}\") {transport}); }};\n\
             destination d_{name} {{ network(127.0.0.1 port({}) transport(\"tcp\")); }};\n\
             filter f_{name} {{ not host(\"{host}\" type(string)); }};\n\
             log {{ source(s_{name}); filter(f_{name}); destination(d_{name}); flags(flow-control); }};\n",
            sink.port()
        ));
    }
    if round % 2 == 1 {
        let path = place.root.join("never");
        text.push_str(&format!(
            "destination d_more {{ file(\"{}\"); }};\n\
             log {{ source(s_tcp); filter {{ program(\"none\" type(string)); }}; destination(d_more); }};\n",
            path.display()
        ));
    }
    text
}

/// In turn what the parser, the compiler and the system find.
fn spoilt(text: &str, round: u32, taken: u16) -> String {
    match (round / WRONG_EVERY) % 3 {
        0 => format!("{text}log {{ source(s_tcp; }};\n"),
        1 => format!("{text}log {{ source(nobody); destination(d_tcp); }};\n"),
        _ => format!(
            "{text}source s_taken {{ network(ip(127.0.0.1) port({taken})); }};\n\
             log {{ source(s_taken); destination(d_tcp); }};\n"
        ),
    }
}

fn reloads(
    args: &Args,
    ways: &[Way],
    place: &Place,
    control: &std::path::Path,
) -> Result<Pauses, CommandError> {
    let taken = ways.first().map_or(0, |way| way.sink.port());
    let began = Instant::now();
    let every = Duration::from_secs(args.seconds) / (args.reloads + 1);
    let mut pauses = Pauses::default();
    for round in 1..=args.reloads {
        std::thread::sleep((began + every * round).saturating_duration_since(Instant::now()));
        let wrong = round % WRONG_EVERY == 0;
        let good = text(ways, place, round);
        place.write("reload.conf", &if wrong { spoilt(&good, round, taken) } else { good })?;
        let longest = || ways.iter().map(|way| way.sink.longest_pause()).max().unwrap_or_default();
        // The machine has pauses of its own.
        ways.iter().for_each(|way| way.sink.forget_pauses());
        std::thread::sleep(AFTERMATH.min(every / 4));
        pauses.note_without(longest());
        ways.iter().for_each(|way| way.sink.forget_pauses());
        let asked = Instant::now();
        let answer = ask(control, "RELOAD")?;
        let took = asked.elapsed();
        if answer.starts_with("OK") == wrong {
            return Err(format!("reload {round}: {answer}").into());
        }
        std::thread::sleep(AFTERMATH.min(every / 4));
        pauses.note(longest(), took);
    }
    Ok(pauses)
}

fn settle(ways: &[Way], sent: &[u64]) {
    let until = Instant::now() + SETTLE_MAX;
    while Instant::now() < until && ways.iter().zip(sent).any(|(way, sent)| way.sink.lines() < *sent) {
        std::thread::sleep(LOOK);
    }
}

/// Seen before the end.
struct Found {
    ledger: String,
    /// The connections of destinations, which never changed, are still the first ones.
    same: bool,
}

/// Prints what was found; whether all of it is as it should be.
fn judge(
    ways: Vec<Way>,
    sent: &[u64],
    pauses: &Pauses,
    found: &Found,
    args: &Args,
) -> Result<bool, CommandError> {
    stdio::out!("{} reloads in {} s under {} messages a second", args.reloads, args.seconds, args.rate);
    stdio::out!(
        "{:<6}{:>12}{:>10}{:>10}{:>10}{:>13}",
        "",
        "sent",
        "lost",
        "doubled",
        "reordered",
        "connections"
    );
    let mut good = true;
    for (way, sent) in ways.into_iter().zip(sent) {
        let (name, connections) = (way.name, way.connections);
        let path = way.sink.close()?;
        let expected =
            Expected { connections: Some(connections), number: Some(*sent), ..Expected::default() };
        let report = verify_files(&[path], &expected)?;
        let lost = sent.saturating_sub(report.received());
        stdio::out!(
            "{name:<6}{sent:>12}{lost:>10}{:>10}{:>10}{connections:>13}",
            report.doubled(),
            report.reordered()
        );
        good &= lost == 0 && report.doubled() == 0 && report.reordered() == 0;
    }
    stdio::out!("{pauses}");
    stdio::out!(
        "connections of destinations that stayed: {}",
        if found.same { "kept" } else { "OPENED ANEW" }
    );
    let within = pauses.percentile(99) < PAUSE_MAX;
    stdio::out!(
        "pauses under {} ms at the 99th percentile: {}",
        PAUSE_MAX.as_millis(),
        if within { "met" } else { "MISSED" }
    );
    let Found { ledger, same } = found;
    let wrong = |row: &str| ledger.contains(&format!("\"balanced\":{row}false"));
    let balanced = ledger.contains("balanced") && !wrong("") && !wrong(" ");
    stdio::out!("ledger: {}", if balanced { "balanced" } else { "NOT BALANCED" });
    Ok(good && within && balanced && *same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_wrong_kind_is_used() {
        let kinds: Vec<String> = [5, 10, 15].map(|round| spoilt("", round, 7)).to_vec();
        assert!(kinds[0].contains("nobody") && kinds[1].contains("port(7)") && kinds[2].contains("s_tcp;"));
    }
}
