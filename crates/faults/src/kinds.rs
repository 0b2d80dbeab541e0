//! The faults: one file each, one line in a list.

mod backlog;
mod certificates;
mod crowd;
mod damage;
mod destinations;
mod disk_errors;
mod drain;
mod estate;
mod estate_rltp;
mod kill;
mod memory;
mod neighbour;
mod network;
mod outage;
mod power;
mod reloads;
mod rltp;
mod storm;
mod syscalls;
mod take_over;
mod upgrade;

use crate::trial::{Plan, Verdict};

pub struct Kind {
    pub name: &'static str,
    /// Rounds of the short, the ordinary and the long run; a short run of 0 leaves it out.
    pub rounds: [usize; 3],
    pub run: fn(&Plan) -> Verdict,
}

pub const ALL: &[Kind] = &[
    Kind { name: "kill", rounds: [3, 20, 200], run: kill::up },
    Kind { name: "kill-target-down", rounds: [3, 20, 200], run: kill::down },
    Kind { name: "kill-at-write", rounds: [3, 15, 500], run: syscalls::write },
    Kind { name: "kill-at-fdatasync", rounds: [2, 15, 200], run: syscalls::fdatasync },
    Kind { name: "kill-at-rename", rounds: [0, 5, 50], run: syscalls::rename },
    Kind { name: "kill-at-unlink", rounds: [0, 5, 50], run: syscalls::unlink },
    Kind { name: "kill-at-fallocate", rounds: [1, 5, 50], run: syscalls::fallocate },
    Kind { name: "eio-at-fdatasync", rounds: [2, 10, 100], run: disk_errors::fdatasync },
    Kind { name: "eio-at-read", rounds: [2, 10, 100], run: disk_errors::read },
    Kind { name: "enospc-at-write", rounds: [1, 10, 100], run: disk_errors::write },
    Kind { name: "full-disk", rounds: [0, 3, 20], run: disk_errors::full },
    Kind { name: "read-only", rounds: [1, 3, 20], run: disk_errors::read_only },
    Kind { name: "power-loss", rounds: [6, 100, 1000], run: power::loss },
    Kind { name: "power-loss-drain", rounds: [0, 20, 200], run: power::drain },
    Kind { name: "damage", rounds: [200, 10_000, 100_000], run: damage::run },
    Kind { name: "no-inodes", rounds: [0, 2, 10], run: disk_errors::no_inodes },
    Kind { name: "backlog", rounds: [0, 2, 10], run: backlog::run },
    Kind { name: "network-cut", rounds: [3, 20, 200], run: network::cut },
    Kind { name: "rltp-sender-killed", rounds: [2, 20, 200], run: rltp::sender_killed },
    Kind { name: "rltp-receiver-killed", rounds: [2, 20, 200], run: rltp::receiver_killed },
    Kind { name: "rltp-writer-killed", rounds: [2, 20, 200], run: rltp::writer_killed },
    Kind { name: "rltp-link-cut", rounds: [2, 20, 200], run: rltp::link_cut },
    Kind { name: "certificates", rounds: [2, 20, 200], run: certificates::rotated },
    Kind { name: "take-over", rounds: [2, 20, 200], run: take_over::run },
    Kind { name: "upgrade", rounds: [0, 4, 20], run: upgrade::run },
    Kind { name: "estate", rounds: [0, 1, 5], run: estate::run },
    Kind { name: "estate-rltp", rounds: [0, 1, 10], run: estate_rltp::run },
    Kind { name: "reload-at-capacity", rounds: [2, 8, 40], run: reloads::at_capacity },
    Kind { name: "reload-renamed", rounds: [1, 4, 20], run: reloads::renamed },
    Kind { name: "reload-removed", rounds: [1, 4, 20], run: reloads::removed },
    Kind { name: "storm-reliable", rounds: [4, 20, 1000], run: storm::reliable },
    Kind { name: "storm-any", rounds: [4, 20, 1000], run: storm::any },
    Kind { name: "storm-answered", rounds: [2, 20, 500], run: storm::answered },
    Kind { name: "crowd", rounds: [0, 1, 5], run: crowd::run },
    Kind { name: "neighbour-dead", rounds: [0, 8, 16], run: neighbour::on_disk },
    Kind { name: "neighbour-dead-memory", rounds: [0, 8, 16], run: neighbour::in_memory },
    Kind { name: "drain", rounds: [1, 1, 3], run: drain::beside },
    Kind { name: "memory-limit", rounds: [1, 1, 1], run: memory::limited },
    Kind { name: "server-killed", rounds: [0, 20, 100], run: destinations::server_killed },
    Kind { name: "collector-killed", rounds: [0, 20, 100], run: destinations::collector_killed },
    Kind { name: "target-dead", rounds: [0, 1, 1], run: outage::dead },
    Kind { name: "target-flapping", rounds: [0, 20, 200], run: outage::flapping },
    Kind { name: "target-slow", rounds: [0, 1, 3], run: outage::slow },
];
