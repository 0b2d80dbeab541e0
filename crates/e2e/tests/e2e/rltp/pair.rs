//! Two penstocks with the acknowledged protocol between them, and what is sent to the first.

use crate::messages::{assert_complete, block};
use std::collections::{BTreeSet, HashSet};
use std::thread::JoinHandle;
use testkit::{Lab, Penstock, Proxy, Sender, Signal};

pub const HEAD: &str = "@version: 4.11\noptions { keep-hostname(yes); use-dns(no); time-reopen(0.1); log-fifo-size(1000000); };\n";

pub fn receiver(options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:rltp%) transport(\"rltp\") {options}); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

pub fn sender(port: u16, options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) max-connections(100)); }};\n\
         destination d {{ network(127.0.0.1 port({port}) transport(\"rltp\") {options}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// A sender with sources of its own for `count` connections, which is what tells senders apart here: ports
/// `in0`, `in1` and so on.
pub fn sender_of_many(count: usize, port: u16, options: &str) -> String {
    let sources: String = (0..count)
        .map(|n| format!("source s{n} {{ network(ip(127.0.0.1) port(%tcp:in{n}%)); }};\n"))
        .collect();
    let paths: String = (0..count).map(|n| format!("source(s{n}); ")).collect();
    format!(
        "{HEAD}{sources}destination d {{ network(127.0.0.1 port({port}) transport(\"rltp\") {options}); }};\n\
         log {{ {paths} destination(d); flags(flow-control); }};\n"
    )
}

/// Sends a text over a connection of its own, and ends when it is read.
pub fn send(port: u16, text: String) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        sender.raw(text.as_bytes());
        sender.finish();
    })
}

/// The same for several at once.
pub fn send_all(texts: impl Iterator<Item = (u16, String)>) {
    let threads: Vec<_> = texts.map(|(port, text)| send(port, text)).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("sent"));
}

/// The programs end before their folders do, so that a failed test shows their logs.
pub struct Pair {
    pub from: Penstock,
    pub to: Penstock,
    pub here: Lab,
    pub there: Lab,
}

impl Pair {
    /// A plain receiver, and a sender with these options.
    #[track_caller]
    pub fn new(options: &str) -> Pair {
        Pair::of((Lab::new(), Lab::new()), &receiver(""), |_, port| sender(port, options))
    }

    /// `from` makes the configuration of the sender from its lab and the port of the receiver.
    #[track_caller]
    pub fn of((here, there): (Lab, Lab), to: &str, from: impl FnOnce(&Lab, u16) -> String) -> Pair {
        let to = Penstock::start(&there, to);
        let config = from(&here, there.port("rltp"));
        let from = Penstock::start(&here, &config);
        Pair { here, there, from, to }
    }

    /// Between them connections are cut after so many bytes. `from` gets the port that leads to the receiver.
    #[track_caller]
    pub fn cut(after: &[usize], from: impl FnOnce(u16) -> String) -> (Pair, Proxy) {
        let mut proxy = None;
        let pair = Pair::of((Lab::new(), Lab::new()), &receiver(""), |_, port| {
            let way = proxy.insert(Proxy::to(port));
            way.cut_after(after);
            from(way.port())
        });
        (pair, proxy.expect("it was made"))
    }

    /// `count` messages of each of `connections`, over as many connections at once.
    pub fn feed(&self, connections: usize, count: usize) {
        let port = self.here.port("in");
        send_all((0..connections).map(|connection| (port, block(connection, count))));
    }

    /// `count` messages of one connection, while the test goes on.
    pub fn feeding(&self, count: usize) -> JoinHandle<()> {
        send(self.here.port("in"), block(0, count))
    }

    /// Ends the receiver and starts it anew.
    #[track_caller]
    pub fn restart_receiver(&mut self, signal: Signal) {
        self.to.signal(signal);
        let status = self.to.wait_end();
        assert_eq!(status.success(), signal == Signal::TERM, "{status}");
        self.to = Penstock::start(&self.there, &receiver(""));
    }

    /// Both ledgers know of `count` messages and of no other, nothing is lost and nothing waits.
    #[track_caller]
    pub fn assert_settled(&mut self, count: usize) {
        self.from.wait_settled(count as u64).assert_nothing_lost();
        let ledger = self.to.wait_ledger(|ledger| {
            let is_settled = ledger.received() >= count as u64 && ledger.waiting() == 0;
            (!is_settled).then(|| format!("{count} received and nothing waiting"))
        });
        let surplus = || format!("repeated: {:?}, streams: {:?}", self.repeated(), self.streams());
        assert_eq!(ledger.received(), count as u64, "{}", surplus());
        ledger.assert_nothing_lost();
        assert_eq!(self.from.ledger().destination("d").delivered, count as u64);
    }

    /// Lines of the output that were there before, each with its place.
    fn repeated(&self) -> Vec<(usize, String)> {
        let mut seen = HashSet::new();
        let lines = self.there.lines("out").into_iter().enumerate();
        lines.filter(|(_, line)| !seen.insert(line.clone())).collect()
    }

    /// Who ever sent to the receiver, from its state file: a stranger's messages are no repetition.
    fn streams(&self) -> BTreeSet<String> {
        let file = std::fs::read(self.there.path("state/penstock.state")).unwrap_or_default();
        let text = String::from_utf8_lossy(&file).into_owned();
        let stream = |name: &str| Some(name.split_once(")/")?.1.get(..34)?.to_owned());
        text.split("rltp_sd(").skip(1).filter_map(stream).collect()
    }

    /// Everything has arrived once and in order, and both end as they should.
    #[track_caller]
    pub fn assert_complete(mut self, connections: usize, count: usize) -> Lab {
        self.assert_settled(connections * count);
        self.from.stop();
        self.to.stop();
        assert_complete(&self.there.lines("out"), connections, count);
        self.there
    }
}
