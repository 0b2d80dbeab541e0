//! What framing and parsing cost: a slab of realistic messages, read again and again. `cargo run --release -p
//! wire --example parse_cost` prints nanoseconds a message; an argument (`bsd`, `ietf`, `frame`, `octet`)
//! runs one case only, for `perf stat` or `valgrind`.

use record::{Batch, Context, Record, Stamp, Zone};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use wire::{Framer, FramerOptions, Framing, SyslogOptions, SyslogParser};

const SLAB: usize = 256 * 1024;
const MESSAGE: usize = 400;

fn main() {
    let only = std::env::args().nth(1);
    let rounds: usize = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(2000);
    let cases: [(&str, Framing, bool, bool); 5] = [
        ("frame", Framing::Lines, false, false),
        ("bsd", Framing::Lines, false, true),
        ("ietf", Framing::OctetCounting, true, true),
        ("octet", Framing::OctetCounting, true, false),
        ("spread", Framing::Lines, false, true),
    ];
    for (name, framing, ietf, parse) in cases {
        if only.as_deref().is_none_or(|only| only == name) {
            run(name, framing, ietf, parse, rounds);
        }
    }
}

fn run(name: &str, framing: Framing, ietf: bool, parse: bool, rounds: usize) {
    let slab = slab(framing, ietf, name == "spread");
    let context = Arc::new(Context::local("s_bench", "here", "rfc3164+tcp"));
    let received = Stamp { secs: 1_795_255_200, usec: 0, offset: 0 };
    let mut batch = Batch::new(slab, context, received);
    let mut options = SyslogOptions { recv_zone: Zone::UTC, ..SyslogOptions::default() };
    options.flags.syslog_protocol = ietf;
    let mut parser = SyslogParser::new(options);
    let mut messages = 0;
    let mut best = f64::MAX;
    for _ in 0..rounds / 50 + 1 {
        let begin = Instant::now();
        let mut count = 0;
        for _ in 0..50 {
            let mut framer = Framer::new(FramerOptions { framing, ..FramerOptions::default() });
            batch.records.clear();
            let Batch { text, records, .. } = &mut batch;
            framer.scan(text, 0, |span| records.push(Record::new(span))).expect("good frames");
            if parse {
                parser.parse_batch(&mut batch, 0);
            }
            count += black_box(&batch).records.len();
        }
        best = best.min(begin.elapsed().as_nanos() as f64 / count as f64);
        messages += count;
    }
    println!("{name}: {best:.1} ns a message, {messages} messages, {} bytes a record", size_of::<Record>());
}

fn slab(framing: Framing, ietf: bool, spread: bool) -> Vec<u8> {
    let mut slab = Vec::with_capacity(SLAB);
    let mut seed = 0x9e37_79b9_u64;
    while slab.len() < SLAB {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let (pri, host, app, pid) =
            (8 + seed % 180, seed >> 8 & 15, seed >> 16 & 7, 1000 + (seed >> 24) % 9000);
        let (min, sec) = if spread { ((seed >> 40) % 60, (seed >> 50) % 60) } else { (0, (seed >> 40) % 2) };
        let mut line = if ietf {
            format!(
                "<{pri}>1 2026-11-21T10:{min:02}:{sec:02}.123456+01:00 host{host:03} app{app} {pid} ID47 [meta sequenceId=\"{pid}\"] "
            )
        } else {
            format!("<{pri}>Nov 21 10:{min:02}:{sec:02} host{host:03} app{app}[{pid}]: ")
        };
        while line.len() < MESSAGE - 1 {
            line.push_str("the quick brown fox jumps over the lazy dog ");
        }
        line.truncate(MESSAGE - 1);
        line.push('\n');
        if framing == Framing::OctetCounting {
            wire::octet::append(&mut slab, line.as_bytes());
        } else {
            slab.extend_from_slice(line.as_bytes());
        }
    }
    slab
}
