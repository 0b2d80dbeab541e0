//! A defect that a message brings to light behind the source: it costs its batch and its connection, and what
//! it cost can be looked at.

use super::{line, tcp};
use crate::options::OPTIONS;
use crate::sources::network::PARTS;
use crate::testing::{Running, free_port, wait_until};
use conf_schema::{Catalogue, Component, Context, Settings};
use diag::{Diagnostics, Fault, Reported};
use engine::driver::{BuildContext, Destination, DestinationDriver, DestinationPart, Registry};
use engine::ledger::{DestinationCounters, Reason};
use engine::program::{Format, Scratch};
use engine::{Outbox, Outlet, Shared};
use record::{Batch, Demand};
use std::io::{Read, Write};
use std::sync::Arc;

static DEFECTIVE: Component = Component {
    context: Context::Destination,
    name: "defective",
    aliases: &[],
    positional: &[],
    groups: &[],
    own: &[],
    presets: &[],
    not_yet: &[],
    summary: "",
    example: "",
    cost: None,
};
static CATALOGUE: Catalogue =
    Catalogue { components: &[PARTS[0].table, &DEFECTIVE, &OPTIONS], unavailable: &[] };
static REGISTRY: Registry = Registry {
    sources: &[PARTS],
    destinations: &[&[DestinationPart::new(&DEFECTIVE, defective)]],
    options: &OPTIONS,
    catalogue: &CATALOGUE,
};

/// Takes every message but those that it has a defect for.
#[derive(Default)]
struct Defective(Arc<DestinationCounters>);

impl Format for Defective {
    fn format(&self, batch: &mut Batch, selection: &[u32], _: &mut Scratch, _: &mut Outbox) {
        for record in selection.iter().map(|index| &batch.records[*index as usize]) {
            assert!(batch.bytes(record.message) != b"defect", "the defect that the test asks for");
        }
    }

    fn preview(&self, _: &mut Batch, _: u32, _: &mut Scratch) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    fn reads(&self, demand: &mut Demand) {
        demand.everything = true;
    }
}

impl Destination for Defective {
    fn counters(&self) -> &Arc<DestinationCounters> {
        &self.0
    }

    fn start(&self, _: &Arc<Shared>) -> Result<(), Fault> {
        Ok(())
    }

    fn outlets(&self) -> Vec<Arc<Outlet>> {
        Vec::new()
    }

    fn described(&self) -> (&'static str, String) {
        ("defective", String::new())
    }
}

fn defective(
    _: &Settings,
    cx: &BuildContext<'_>,
    _: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    Ok(DestinationDriver { key: cx.id(), destination: Arc::<Defective>::default() })
}

#[test]
fn a_contained_defect_costs_its_connection_and_is_kept() {
    let port = free_port();
    let mut running = Running::idle();
    let text = format!(
        "@version: 4.11\nsource s {{ network(ip(127.0.0.1) port({port}) transport(tcp)); }};\n\
         destination d {{ defective(); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    running.reload_with(&REGISTRY, &text).expect("a configuration");
    let counters = &running.source("s#0").counters;
    let mut other = tcp(port, &line("before"));
    wait_until("the message before", || counters.routed.value() == 1);
    for turn in 1..=2 {
        // In one segment they come as one batch.
        let lines = [line("first"), line("defect"), line("last")].concat();
        let mut stream = tcp(port, &lines);
        assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)), "the connection is closed");
        wait_until("the account", || counters.dropped.value(Reason::Contained) == 3 * turn);
        let kept = counters.remains.since(Reason::Contained, 3 * (turn - 1));
        let texts: Vec<String> =
            kept.iter().map(|one| String::from_utf8_lossy(&one.text).into_owned() + "\n").collect();
        assert_eq!(texts.concat(), lines);
    }
    // Others go on.
    other.write_all(line("after").as_bytes()).expect("write");
    wait_until("the message after", || counters.routed.value() == 2);
    assert_eq!((counters.received.value(), counters.in_work.value()), (8, 0));
}
