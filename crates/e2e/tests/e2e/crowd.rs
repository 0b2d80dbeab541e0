//! Many workers: what they fight over is bounded for each thousand messages, and so is their memory. The
//! bounds do not depend on the machine's speed: with sixteen workers on fewer cores most of them are
//! interrupted in the middle of something.

use crate::messages::HEAD;
use testkit::{Lab, Penstock, run_command, wait_until};

const WORKERS: &str = "16";
/// Two expressions and a subst: worth giving to other cores.
const COSTLY: &str = "rewrite { subst('([0-9]+) ', '$1 ', value('MESSAGE')); };\n\
     filter { message('seq=[0-9]+') and not message('x[0-9]+.*y$'); };";

fn config(steps: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) max-connections(2000)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$MSGHDR$MSG\\n\")); }};\n\
         log {{ source(s); {steps} destination(d); flags(flow-control); }};\n"
    )
}

/// Sends through so many connections, waits until all is out and sees that it is there in order.
#[track_caller]
fn send(lab: &Lab, penstock: &mut Penstock, connections: usize, total: usize) {
    let port = lab.port("in").to_string();
    let (of, number) = (format!("--active-connections={connections}"), format!("--total={total}"));
    let words =
        ["loggen", "-i", "-S", "-Q", "--perf", "--stamp", "--size=400", &of, &number, "127.0.0.1", &port];
    let outcome = run_command(&words);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    penstock.wait_settled(total as u64).assert_nothing_lost();
    let out = lab.path("out").display().to_string();
    let (of, number) = (format!("--expect-connections={connections}"), format!("--expect-number={total}"));
    let verified = run_command(&["loggen", "verify", &out, &of, &number]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

/// A statistic of the whole program.
fn global(penstock: &Penstock, name: &str) -> f64 {
    let stats = penstock.request("STATS");
    let prefix = format!("global;{name};;a;processed;");
    let value = stats.lines().find_map(|line| line.strip_prefix(&prefix)?.parse().ok());
    value.unwrap_or_else(|| panic!("no {name} in {stats}"))
}

fn mib(penstock: &Penstock, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", penstock.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("a field of the kernel");
    line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") / 1024
}

#[test]
fn busy_connections_stay_with_their_workers() {
    const COUNT: usize = 200_000;
    let lab = Lab::new();
    let mut penstock =
        Penstock::configure(&lab, &config(COSTLY)).arg("--worker-threads").arg(WORKERS).ready();
    send(&lab, &mut penstock, 100, COUNT);
    // There are three batches for each thousand messages: where others have the cores, some workers sleep and
    // are given a few.
    let bounds = [("lock_waits", 1.0), ("wake_ups", 3.0), ("hand_overs", 1.5)];
    let found = bounds.map(|(name, bound)| (name, bound, global(&penstock, name) * 1000.0 / COUNT as f64));
    println!("for each thousand messages: {found:?}");
    assert!(found.iter().all(|(_, bound, value)| value <= bound), "for each thousand messages: {found:?}");
    let peak = mib(&penstock, "VmHWM:");
    assert!(peak <= 300, "{peak} MiB");
    penstock.stop();
}

/// A counter of the kernel about what the program reads and writes.
fn io(penstock: &Penstock, field: &str) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{}/io", penstock.id())).expect("it runs");
    let value = text.lines().find_map(|line| line.strip_prefix(field)?.trim().parse().ok());
    value.expect("a counter of the kernel")
}

#[test]
fn a_crowd_into_one_file_waits_little_and_writes_much_at_once() {
    const COUNT: usize = 300_000;
    let lab = Lab::new();
    let mut penstock = Penstock::configure(&lab, &config("")).arg("--worker-threads").arg(WORKERS).ready();
    let fields = ["syscr:", "syscw:", "wchar:"];
    let before = fields.map(|field| io(&penstock, field));
    send(&lab, &mut penstock, 100, COUNT);
    let after = fields.map(|field| io(&penstock, field));
    let [reads, writes, bytes] = [0, 1, 2].map(|at| after[at] - before[at]);
    // A read brings what a connection has, 128 KiB at most; whoever writes takes along what others brought.
    let calls = ("reads and writes", 40.0, (reads + writes) * 1000.0 / COUNT as f64);
    let bounds = [("lock_waits", 0.5), ("wake_ups", 3.0), ("hand_overs", 0.5)];
    let mut found =
        bounds.map(|(name, bound)| (name, bound, global(&penstock, name) * 1000.0 / COUNT as f64)).to_vec();
    found.push(calls);
    println!("for each thousand messages: {found:?}, {:.0} bytes a write", bytes / writes);
    assert!(found.iter().all(|(_, bound, value)| value <= bound), "for each thousand messages: {found:?}");
    assert!(bytes / writes >= 16384.0, "{bytes} bytes in {writes} writes");
    penstock.stop();
}

#[test]
fn a_thousand_connections_take_little_memory() {
    const COUNT: usize = 300_000;
    let lab = Lab::new();
    let mut penstock = Penstock::configure(&lab, &config("")).arg("--worker-threads").arg(WORKERS).ready();
    send(&lab, &mut penstock, 1000, COUNT);
    let peak = mib(&penstock, "VmHWM:");
    println!("{peak} MiB");
    assert!(peak <= 300, "{peak} MiB");
    penstock.stop();
}

#[test]
fn one_busy_connection_has_all_cores_and_keeps_its_order() {
    const COUNT: usize = 150_000;
    let lab = Lab::new();
    let mut penstock = Penstock::configure(&lab, &config(COSTLY)).arg("--worker-threads").arg("4").ready();
    send(&lab, &mut penstock, 1, COUNT);
    // Batches of 128 KiB at most, of 320 such messages: a good part of them was worked on by others.
    let (given, taken) = (global(&penstock, "shared_batches"), global(&penstock, "hand_overs"));
    println!("{given} given, {taken} taken");
    assert!(taken * 320.0 * 4.0 >= COUNT as f64, "{taken} of {given} batches were taken by others");
    penstock.stop();
    wait_until("all lines", || lab.lines("out").len() == COUNT);
}
