//! Reload: connections stay, nothing is lost, a bad configuration changes nothing.

use crate::messages::{HEAD, assert_complete, block, message, send_until_stuck, wait_waiting};
use testkit::{Collector, Lab, Penstock, Sender, Signal, wait_until};

fn config(file: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/{file}\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

#[test]
fn the_same_connection_goes_on_into_another_file() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("one"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    penstock.wait_settled(1);
    penstock.reload_with(&lab, &config("two"));
    sender.line(&message(0, 1));
    wait_until("the new file", || lab.lines("two").len() == 1);
    assert_eq!(lab.lines("one").len(), 1);
    penstock.stop();
}

/// A function reads its file when the configuration is read: a reload of the same text has the new one.
#[test]
fn another_file_for_a_template_function_takes_effect() {
    let lab = Lab::new();
    let database =
        std::fs::read(testkit::root().join("tests/golden/parser/geoip2.mmdb")).expect("a database");
    let write = |code: &[u8; 2]| {
        let mut bytes = database.clone();
        let places = bytes.windows(2).enumerate().filter(|(_, two)| two == b"GB").map(|(at, _)| at);
        let places: Vec<usize> = places.collect();
        places.iter().for_each(|at| bytes[*at..at + 2].copy_from_slice(code));
        std::fs::write(lab.path("new.mmdb"), bytes).expect("written");
        std::fs::rename(lab.path("new.mmdb"), lab.path("geo.mmdb")).expect("renamed");
    };
    write(b"GB");
    let config = format!(
        "{HEAD}template t \"$(geoip2 --database %dir%/geo.mmdb $MSG)\\n\";\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/named\" template(t)); file(\"%dir%/own\" template(\"$(geoip2 --database %dir%/geo.mmdb $MSG)\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    for (round, code) in ["GB", "FR"].into_iter().enumerate() {
        if round > 0 {
            write(b"FR");
            penstock.reload_with(&lab, &config);
        }
        sender.line("<13>Nov 24 10:00:00 h p: 192.168.1.255");
        for file in ["named", "own"] {
            wait_until("a line", || lab.lines(file).len() == round + 1);
            assert_eq!(lab.lines(file)[round], code, "{file}");
        }
    }
    penstock.stop();
}

/// The text of the driver is the same: what a block is called with, and what a name stands for, is not.
#[test]
fn other_words_for_a_block_and_for_a_name_take_effect() {
    let lab = Lab::new();
    let with = |argument: &str, name: &str| {
        format!(
            "{HEAD}@define name \"{name}\"\nblock destination b(word()) {{ file(\"%dir%/out\" template(\"`word` `name` $MSG\\n\")); }};\n\
             source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\ndestination d {{ b(word({argument})); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &with("one", "a"));
    let mut sender = Sender::tcp(lab.port("in"));
    for (number, (argument, name)) in [("one", "a"), ("two", "a"), ("two", "b")].into_iter().enumerate() {
        penstock.reload_with(&lab, &with(argument, name));
        sender.line(&message(0, number));
        wait_until("the line", || lab.lines("out").len() == number + 1);
        let begin = format!("{argument} {name} ");
        assert!(lab.lines("out")[number].starts_with(&begin), "{}", lab.text("out"));
    }
    penstock.stop();
}

#[test]
fn nothing_is_lost_while_messages_flow() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("out"));
    const COUNT: usize = 100_000;
    let port = lab.port("in");
    let sending = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        block(0, COUNT).as_bytes().chunks(50_000).for_each(|piece| sender.raw(piece));
        sender.finish();
    });
    let mut rounds = 0;
    while !sending.is_finished() || rounds < 3 {
        penstock.reload_with(&lab, &config("out"));
        rounds += 1;
    }
    sending.join().unwrap();
    wait_until("all lines", || lab.lines("out").len() >= COUNT);
    penstock.ledger().assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), 1, COUNT);
}

/// The counters come out of internal() as syslog-ng writes them, as often as the configuration says, and no
/// more once it says 0.
#[test]
fn the_log_says_the_counters() {
    let lab = Lab::new();
    let with = |freq: u32| {
        format!(
            "@version: 4.26\noptions {{ stats(freq({freq})); }};\nsource s {{ network(ip(\"127.0.0.1\") port(%tcp:in%)); }};\n\
             source i {{ internal(); }};\ndestination own {{ file(\"%dir%/own\"); }};\n\
             destination out {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(out); }};\n\
             log {{ source(i); destination(own); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &with(0));
    assert!(!lab.lines("own").iter().any(|line| line.contains("Log statistics;")));
    penstock.rewrite(&lab, &with(1));
    penstock.signal(Signal::HUP);
    penstock.wait_log("Configuration reload finished");
    Sender::tcp(lab.port("in")).line(&message(0, 0));
    let said = |text: &str| {
        lab.lines("own").iter().any(|line| line.contains("Log statistics; ") && line.contains(text))
    };
    for text in [
        "processed='source(s)=1'",
        "processed='destination(out)=1'",
        "processed='src.internal(i#0)=",
        "queued='dst.file(out#0,",
    ] {
        wait_until(text, || said(text));
    }
    penstock.stop();
}

#[test]
fn by_signal() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("one"));
    penstock.rewrite(&lab, &config("two"));
    penstock.signal(Signal::HUP);
    penstock.wait_log("Configuration reload request received, reloading configuration");
    penstock.wait_log("New configuration initialized");
    penstock.wait_log("Configuration reload finished");
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    wait_until("the new file", || lab.lines("two").len() == 1);
}

/// So do the scripts of logrotate that came with syslog-ng.
#[test]
fn a_file_that_was_moved_is_made_anew() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("one"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    wait_until("the file", || lab.lines("one").len() == 1);
    std::fs::rename(lab.path("one"), lab.path("moved")).expect("moved");
    penstock.signal(Signal::HUP);
    penstock.wait_log("Configuration reload finished");
    sender.line(&message(0, 1));
    wait_until("a new file", || lab.lines("one").len() == 1);
    assert_eq!(lab.lines("moved").len(), 1);
    penstock.stop();
}

#[test]
fn an_error_leaves_the_old_configuration_running() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("one"));
    let mut sender = Sender::tcp(lab.port("in"));
    for wrong in [
        "this is no configuration {",
        &format!("{HEAD}log {{ source(nobody); }};"),
        "@include \"/nowhere/x.conf\" \"y\"\n",
    ] {
        penstock.rewrite(&lab, wrong);
        let answer = penstock.reload();
        assert!(answer.starts_with("FAIL"), "{answer}");
    }
    sender.line(&message(0, 0));
    penstock.wait_settled(1).assert_nothing_lost();
    assert_eq!(lab.lines("one").len(), 1);
}

#[test]
fn a_source_that_cannot_open_leaves_the_old_configuration_running() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("one"));
    let _taken = Collector::tcp(lab.port("taken"));
    let mut sender = Sender::tcp(lab.port("in"));
    let more = config("two").replace("source s {", "source s { network(ip(127.0.0.1) port(%port:taken%));");
    penstock.rewrite(&lab, &more);
    let answer = penstock.reload();
    assert!(answer.starts_with("FAIL"), "{answer}");
    sender.line(&message(0, 0));
    penstock.wait_settled(1).assert_nothing_lost();
    assert_eq!((lab.lines("one").len(), lab.lines("two").len()), (1, 0));
}

#[test]
fn sources_and_destinations_come_and_go() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let mut penstock = Penstock::start(&lab, &config("one"));
    let mut gone = Sender::tcp(lab.port("in"));
    gone.line(&message(0, 0));
    penstock.wait_settled(1);
    let other = format!(
        "{HEAD}source t {{ network(ip(127.0.0.1) port(%tcp:other%)); }};\n\
         destination n {{ network(127.0.0.1 port(%port:out%)); }};\nlog {{ source(t); destination(n); flags(flow-control); }};\n"
    );
    penstock.reload_with(&lab, &other);
    gone.wait_closed();
    wait_until("the old port to be closed", || !testkit::sockets::tcp_listening(lab.port("in")));
    Sender::tcp(lab.port("other")).line(&message(1, 0));
    assert_eq!(collector.wait_lines(1), [message(1, 0)]);
}

#[test]
fn the_connection_of_an_unchanged_destination_stays() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let relay = |tag: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) tags({tag})); }};\n\
             destination d {{ network(127.0.0.1 port(%port:out%) template(\"$MSG\\n\")); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &relay("one"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    collector.wait_lines(1);
    penstock.reload_with(&lab, &relay("two"));
    sender.line(&message(0, 1));
    collector.wait_lines(2);
    assert_eq!(collector.connections(), 1);
}

#[test]
fn what_waits_for_a_dead_target_survives_a_reload() {
    let lab = Lab::new();
    let relay = |comment: &str| {
        format!(
            "{HEAD}# {comment}\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(127.0.0.1 port(%port:out%)); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &relay("before"));
    Sender::tcp(lab.port("in")).raw(block(0, 20).as_bytes());
    penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 20).then(|| "20 waiting".to_owned()));
    penstock.reload_with(&lab, &relay("after"));
    let collector = Collector::tcp(lab.port("out"));
    assert_complete(&collector.wait_lines(20), 1, 20);
}

#[test]
fn a_target_that_changes_in_the_middle_of_a_message_costs_nothing() {
    let lab = Lab::new();
    let (old, new) = (Collector::tcp(lab.port("old")), Collector::tcp(lab.port("new")));
    let relay = |port: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(127.0.0.1 port(%port:{port}%) so-sndbuf(8192)); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    old.pause();
    let mut penstock = Penstock::configure(&lab, &relay("old")).free().ready();
    const COUNT: usize = 60_000;
    // All buffers on the way to the old target are full, most likely with a part of a message at the end.
    let (sending, _) = send_until_stuck(&lab, &penstock, COUNT);
    penstock.reload_with(&lab, &relay("new"));
    old.resume();
    sending.join().unwrap();
    wait_waiting(&mut penstock, 0);
    let bytes = || (old.bytes(), new.bytes());
    let lines = |bytes: &[u8]| bytes.iter().filter(|b| **b == b'\n').count();
    wait_until("every message", || lines(&bytes().0) + lines(&bytes().1) >= COUNT);
    let (mut all, rest) = bytes();
    // What the old target got last of a message it did not take whole, the new one got again.
    let border = all.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    assert!(rest.starts_with(&all[border..]), "half a message at the old target only");
    all.truncate(border);
    all.extend_from_slice(&rest);
    let all = String::from_utf8(all).unwrap();
    assert_complete(&all.lines().map(str::to_owned).collect::<Vec<_>>(), 1, COUNT);
    assert!(!rest.is_empty(), "the new target got nothing");
}

/// `loggen` in a process of its own, with stamped messages.
fn load(lab: &Lab, port: &str, words: &[&str]) -> std::process::Child {
    let mut command = std::process::Command::new(testkit::binary());
    command.args(["loggen", "--inet", "--stamp", "--quiet", "--body=text"]).args(words);
    command.args(["127.0.0.1", &lab.port(port).to_string()]);
    command.stdin(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command.spawn().expect("loggen starts")
}

/// The same for the time that users would see, with pauses measured, is `penstock bench reload`.
#[test]
fn a_hundred_reloads_under_load() {
    const COUNT: usize = 40_000;
    let lab = Lab::new();
    crate::tls::prepared(&lab);
    let tls = crate::tls::block_of("server").replace("tls(", "tls(peer-verify(optional-untrusted) ");
    let config = |round: usize| {
        let way = |name: &str, kind: &str, transport: &str| {
            format!(
                "source s_{name} {{ network(ip(127.0.0.1) port(%{kind}:{name}%) {transport} tags(\"t{round}\")); }};\n\
                 destination d_{name} {{ file(\"%dir%/{name}.out\"); }};\n\
                 log {{ source(s_{name}); destination(d_{name}); flags(flow-control); }};\n"
            )
        };
        let all = [
            way("t", "tcp", "transport(tcp)"),
            way("u", "udp", "transport(udp)"),
            way("e", "tcp", &format!("transport(tls) {tls}")),
        ];
        format!("{HEAD}{}", all.concat())
    };
    let mut penstock = Penstock::start(&lab, &config(0));
    let number = format!("--total={COUNT}");
    let mut senders = [
        load(&lab, "t", &[&number, "--rate=2000", "--active-connections=4"]),
        load(&lab, "u", &[&number, "--rate=8000", "--dgram"]),
        load(&lab, "e", &[&number, "--rate=2000", "--active-connections=4", "--use-ssl"]),
    ];
    for round in 1..=100 {
        let wrong = match round {
            _ if round % 5 != 0 => "",
            _ if round % 2 == 0 => "log { source(nobody); };\n",
            _ => {
                "source x { network(ip(127.0.0.1) port(%port:t%) persist-name(x)); }; log { source(x); destination(d_t); };\n"
            }
        };
        penstock.rewrite(&lab, &(config(round) + wrong));
        let answer = penstock.reload();
        assert_eq!(answer.starts_with("OK"), wrong.is_empty(), "{round}: {answer}");
    }
    for sender in &mut senders {
        assert!(sender.wait().expect("an end").success());
    }
    let ledger = penstock.wait_settled(3 * COUNT as u64);
    ledger.assert_nothing_lost();
    for (name, connections) in [("t", "4"), ("u", "1"), ("e", "4")] {
        let path = lab.path(&format!("{name}.out")).display().to_string();
        wait_until("all lines", || lab.lines(&format!("{name}.out")).len() >= COUNT);
        let number = COUNT.to_string();
        let words =
            ["loggen", "verify", &path, "--expect-connections", connections, "--expect-number", &number];
        let verified = testkit::run_command(&words);
        assert_eq!(verified.code, Some(0), "{}", verified.stdout);
    }
    assert_eq!(penstock.log().matches("Syslog connection accepted").count(), 8, "a connection was made anew");
    penstock.stop();
}

#[test]
fn a_configuration_that_does_not_work_is_rolled_back() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("good"));
    let relay = |port: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(127.0.0.1 port(%port:{port}%) template(\"$MSG\\n\")); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    let mut penstock = Penstock::configure(&lab, &relay("good")).free().ready();
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    collector.wait_lines(1);
    penstock.rewrite(&lab, &relay("nobody"));
    let control = lab.path("state/penstock.ctl").display().to_string();
    let asking = std::thread::spawn(move || {
        testkit::run_command(&["ctl", "reload", "--health-time", "2", "-c", &control])
    });
    penstock.wait_log("Configuration reload request received, reloading configuration");
    wait_until("the answer", || {
        sender.line(&message(0, 1));
        asking.is_finished()
    });
    let answer = asking.join().expect("an answer");
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    assert!(
        answer.stdout.contains("destination d#0") && answer.stdout.contains("is not reached"),
        "{}",
        answer.stdout
    );
    penstock.wait_log("Error initializing configuration, reverting back to the old one");
    // What waited for the wrong target goes to the right one.
    let sent = penstock.wait_settled_input().received() as usize;
    assert_eq!(collector.wait_lines(sent).len(), sent);
    assert!(sent > 1);
    assert!(penstock.request("CONFIG VERIFY").starts_with("FAIL"), "the file is not what runs");
    // One that works passes its trial.
    penstock.rewrite(&lab, &relay("good").replace("$MSG", "new $MSG"));
    assert!(penstock.request("RELOAD 1").starts_with("OK"));
    sender.line(&message(0, 2));
    assert!(collector.wait_lines(sent + 1)[sent].starts_with("new "));
}
