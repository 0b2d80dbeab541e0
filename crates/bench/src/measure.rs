//! One measurement: a receiver, a case, a number of messages. Start, send, wait until everything is out or
//! nothing more comes, read the meters, stop, verify.

use std::path::Path as FilePath;
use std::time::{Duration, Instant};

use loggen::verify::{Expected, verify_files};
use rustix::process::Signal;

use crate::cases::{Appear, Buffered, Case, Feed, Path};
use crate::feeder;
use crate::files;
use crate::friction::Friction;
use crate::hop::Behind;
use crate::place::Place;
use crate::process::{Process, Usage};
use crate::receiver::{OwnProgram, Programs, Receiver};
use crate::results::{Run, Verified};
use crate::sender::Sender;
use crate::storm::Storm;
use crate::sysctl;
use stdio::CommandError;

const LOOK: Duration = Duration::from_millis(2);
/// Output that has not grown for so long is looked at ...
const QUIET: Duration = Duration::from_millis(500);
/// ... and given up after so long when lines are missing.
const QUIET_MAX: Duration = Duration::from_secs(6);
/// Nothing at all came out for this long after sending began.
const SILENT_MAX: Duration = Duration::from_secs(20);
/// No measurement takes longer, whatever happens.
const TOTAL_MAX: Duration = Duration::from_secs(900);
/// How long filling a prepared buffer may take.
const FILL_MAX: Duration = Duration::from_secs(30);

/// What is the same for all measurements of a run.
pub struct Plan<'a> {
    pub messages: u64,
    pub udp_seconds: u64,
    /// Where the folders of the measurements are made.
    pub parent: &'a FilePath,
    pub keep: bool,
    pub programs: &'a Programs,
}

pub fn measure(case: &'static Case, receiver: Receiver, round: u32, plan: &Plan) -> Run {
    let mut run =
        Run { case: case.name, receiver, round, connections: case.input.connections, ..Run::default() };
    if let Err(error) = attempt(case, receiver, plan, &mut run) {
        run.failure = Some(error.to_string());
    }
    run
}

fn attempt(case: &Case, receiver: Receiver, plan: &Plan, run: &mut Run) -> Result<(), CommandError> {
    let place = Place::new(plan.parent, &format!("{}-{receiver}", case.name), plan.keep)?;
    let _raised = (case.input.feed == Feed::Prepared).then(sysctl::raise_rmem_max);
    let messages = amount(case, plan);
    place.warm(messages * case.input.size as u64)?;
    if let Some(layout) = case.layout() {
        files::prepare(case, layout, &place, messages)?;
        loggen::send::allow_descriptors(layout.count() as u64);
    }
    // The floor has no relay: it stands for receiving and writing in each case.
    let mut sinks = match case.path {
        Path::Relay | Path::ParsedRelay(_) if receiver != Receiver::Floor => vec![start_sink(&place, 0)?],
        Path::Delivery(delivery) if receiver != Receiver::Floor => {
            vec![start_server(delivery.server, &place)?]
        }
        Path::Intake(intake) if receiver != Receiver::Floor => {
            intake.between.map(|word| start_server(word, &place)).transpose()?.into_iter().collect()
        }
        Path::Buffered(kept) if receiver != Receiver::Floor && kept.appear == Appear::First => {
            start_sinks(&place, kept)?
        }
        _ => Vec::new(),
    };
    let behind = match &case.path {
        Path::Hop(hop) if receiver != Receiver::Floor => Some(Behind::start(hop, &place, plan.programs)?),
        _ => None,
    };
    let command = receiver.command(case, &place, plan.programs)?;
    let mut process = Process::start(&command, place.root.join("receiver.log"))?;
    process.wait_listening(place.port, case.is_udp())?;
    let entry = match &case.path {
        Path::Intake(intake) if receiver != Receiver::Floor => {
            sinks.push(feeder::start(case, intake, &place, plan.programs)?);
            feeder::entry(&place)
        }
        _ => place.port,
    };
    let control = place.root.join("state/penstock.ctl");
    let usage = |process: &Process| {
        let usage = match &behind {
            // What the second one takes is the price of the first one's way of sending.
            Some(behind) => process.usage().and(behind.second.usage()),
            None => process.usage(),
        };
        let said = if receiver == Receiver::Penstock { Friction::ask(&control) } else { Friction::default() };
        Usage { friction: usage.friction.and(said), ..usage }
    };
    if let Some((layout, known)) = case.layout().and_then(|layout| Some((layout, layout.known()?))) {
        files::show(layout, &place)?;
        wait_for_output(&place, &mut process, || false, known, Instant::now())?;
    }
    let before = usage(&process);
    let seconds = match case.layout() {
        Some(layout) => read_files(case, layout, &place, &mut process, messages, run)?,
        None => match case.path {
            Path::Buffered(kept) if receiver != Receiver::Floor && kept.appear != Appear::First => {
                feed_late(case, kept, &place, &mut process, messages, run)?
            }
            _ => feed(case, entry, &place, &mut process, messages, run)?,
        },
    };
    let after = usage(&process);
    fill_in(run, seconds, before, after);
    if !process.alive() {
        return Err(format!("ended by itself: {}", process.words()).into());
    }
    process.stop();
    sinks.into_iter().for_each(Process::stop);
    if let Some(behind) = behind {
        behind.stop();
    }
    verify(case, receiver, &place, messages, run)
}

/// Less than the plan says when the input must fit into a socket buffer.
fn amount(case: &Case, plan: &Plan) -> u64 {
    let messages = case.messages(plan.messages, plan.udp_seconds);
    match case.input.feed {
        Feed::Prepared => messages.min(sysctl::prepared_room() / 2 / case.input.size as u64).max(1),
        _ => messages,
    }
}

/// The output of all but the first is not looked at.
fn start_sink(place: &Place, number: usize) -> Result<Process, CommandError> {
    let output = match number {
        0 => place.output.join("all.log"),
        _ => place.root.join(format!("all-{number}.log")),
    };
    let port = place.sink_port_of(number);
    let words = vec!["floor-receiver".into(), port.to_string().into(), output.into()];
    let command = OwnProgram::here()?.command(words);
    let mut sink = Process::start(&command, place.root.join(format!("sink-{number}.log")))?;
    sink.wait_listening(port, false)?;
    Ok(sink)
}

/// A server that is no relay, by its word on the command line.
fn start_server(word: &str, place: &Place) -> Result<Process, CommandError> {
    let (port, output) = (place.sink_port, place.output.join("all.log"));
    let words = vec![word.into(), port.to_string().into(), output.into()];
    let command = OwnProgram::here()?.command(words);
    let mut server = Process::start(&command, place.root.join("server.log"))?;
    server.wait_listening(port, false)?;
    Ok(server)
}

fn start_sinks(place: &Place, kept: Buffered) -> Result<Vec<Process>, CommandError> {
    (0..kept.destinations - kept.dead).map(|number| start_sink(place, number)).collect()
}

/// Sends everything to a relay whose destinations do not run, or half of it, then starts these and waits for
/// the output. Seconds from its first byte to the last.
fn feed_late(
    case: &Case,
    kept: Buffered,
    place: &Place,
    process: &mut Process,
    messages: u64,
    run: &mut Run,
) -> Result<f64, CommandError> {
    let mut sender = Sender::start(case, place.port, messages)?;
    if kept.appear == Appear::Half {
        let (half, until) = (messages * case.input.size as u64 / 2, Instant::now() + TOTAL_MAX);
        while sender.running() && place.buffered() < half && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
    } else if !sender.wait(TOTAL_MAX) {
        return Err("the receiver stopped taking messages".into());
    }
    let sinks = start_sinks(place, kept)?;
    let until = Instant::now() + SILENT_MAX;
    while place.size() == 0 && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
    let start = Instant::now();
    let last_growth = wait_for_output(place, process, || sender.running(), messages, start)?;
    if !sender.wait(QUIET_MAX) {
        return Err("the receiver stopped taking messages".into());
    }
    run.sent = sender.sent()?;
    run.lines = lines(place)?;
    sinks.into_iter().for_each(Process::stop);
    Ok((last_growth - start).as_secs_f64())
}

/// Shows the files or writes to them, and waits for the output. Seconds as for [`feed`].
fn read_files(
    case: &Case,
    layout: files::Layout,
    place: &Place,
    process: &mut Process,
    messages: u64,
    run: &mut Run,
) -> Result<f64, CommandError> {
    let start = Instant::now();
    let last_growth = if layout.known().is_some() {
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| files::write(case, layout, place, messages));
            let grown = wait_for_output(place, process, || !writer.is_finished(), messages, start)?;
            writer.join().map_err(|_| "the writer of the files panicked".to_owned())??;
            Ok::<_, CommandError>(grown)
        })?
    } else {
        files::show(layout, place)?;
        wait_for_output(place, process, || false, messages, start)?
    };
    run.sent = messages;
    run.lines = lines(place)?;
    Ok((last_growth - start).as_secs_f64())
}

/// Sends everything and waits for the output. Seconds from the start to the last byte.
fn feed(
    case: &Case,
    port: u16,
    place: &Place,
    process: &mut Process,
    messages: u64,
    run: &mut Run,
) -> Result<f64, CommandError> {
    let prepared = case.input.feed == Feed::Prepared;
    if prepared {
        process.signal(Signal::STOP);
    }
    let mut start = Instant::now();
    let storm = match case.input.storm {
        0 => None,
        per_second => Some(Storm::start(port, per_second)?),
    };
    let mut sender = Sender::start(case, port, messages)?;
    if prepared {
        let filled = sender.wait(FILL_MAX);
        start = Instant::now();
        process.signal(Signal::CONT);
        if !filled {
            return Err("the input did not fit into the socket buffer".into());
        }
    }
    let last_growth = wait_for_output(place, process, || sender.running(), messages, start)?;
    if !sender.wait(QUIET_MAX) {
        return Err("the receiver stopped taking messages".into());
    }
    run.handshakes = storm.map_or(0.0, |storm| storm.handshakes() as f64 / start.elapsed().as_secs_f64());
    run.sent = sender.sent()?;
    run.lines = lines(place)?;
    Ok((last_growth - start).as_secs_f64())
}

/// Watches the output's size, which costs the machine next to nothing, and counts lines only when it rests.
fn wait_for_output(
    place: &Place,
    process: &mut Process,
    mut sending: impl FnMut() -> bool,
    messages: u64,
    start: Instant,
) -> Result<Instant, CommandError> {
    let (mut size, mut grown_at, mut counted) = (0, start, false);
    loop {
        let now = Instant::now();
        let new = place.size();
        if new != size {
            (size, grown_at, counted) = (new, now, false);
        }
        let quiet = now - grown_at;
        let sending = sending();
        let patience = if size == 0 || sending { SILENT_MAX } else { QUIET_MAX };
        if !sending && quiet >= QUIET && size > 0 && !counted {
            counted = true;
            if lines(place)? >= messages {
                return Ok(grown_at);
            }
        }
        if quiet >= patience || now - start >= TOTAL_MAX || !process.alive() {
            return Ok(grown_at);
        }
        std::thread::sleep(LOOK);
    }
}

fn lines(place: &Place) -> Result<u64, CommandError> {
    let mut count = 0;
    let mut buffer = vec![0; 1 << 20];
    for path in place.files() {
        let failed = |e| format!("cannot read {}: {e}", path.display());
        let mut file = std::fs::File::open(&path).map_err(failed)?;
        loop {
            match std::io::Read::read(&mut file, &mut buffer).map_err(failed)? {
                0 => break,
                read => count += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64,
            }
        }
    }
    Ok(count)
}

fn fill_in(run: &mut Run, seconds: f64, before: Usage, after: Usage) {
    run.seconds = seconds;
    run.cpu_ns = after.cpu_ns.saturating_sub(before.cpu_ns);
    run.rss_before = before.rss;
    run.rss_peak = after.rss_peak;
    run.written = after.written.saturating_sub(before.written);
    run.friction = after.friction.since(before.friction);
}

fn verify(
    case: &Case,
    receiver: Receiver,
    place: &Place,
    messages: u64,
    run: &mut Run,
) -> Result<(), CommandError> {
    if receiver == Receiver::Floor {
        run.verified.missing = messages.saturating_sub(run.lines);
        return Ok(());
    }
    let expected =
        Expected { connections: Some(case.input.connections), number: Some(messages), ..Expected::default() };
    let report = verify_files(&place.files(), &expected)?;
    // Soon gone with the files it is in.
    if let Some(sample) = report.foreign_samples.first() {
        stdio::err!("{}: nobody's message: {sample}", case.name);
    }
    run.lines = report.lines;
    run.verified = Verified {
        missing: report.missing(),
        doubled: report.doubled(),
        reordered: report.reordered(),
        foreign: report.foreign,
    };
    if run.lines == 0 {
        return Err("nothing came out".into());
    }
    Ok(())
}
