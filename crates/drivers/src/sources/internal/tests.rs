use super::*;
use crate::testing::{HEAD, Running, Wakes, wait_until};
use engine::source::{Carrier, SourceName};

fn config(options: &str) -> String {
    format!(
        "{HEAD}source s {{ internal({options}); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{FACILITY}}.${{SEVERITY}} ${{PROGRAM}} ${{PID}} ${{HOST}} ${{MSG}}\\n\")); }};\n\
         log {{ source(s); destination(d); }};\n"
    )
}

#[test]
fn own_messages_are_records() {
    let running = Running::start(&config("tags(own)"));
    let number = 7;
    oplog::error("A test of internal()", &[("number", &number), ("text", &"it's")]);
    oplog::info("A test of internal(), calmer", &[]);
    let (pid, host) = (std::process::id(), transport::local_host_name(false, None));
    let line = |severity: &str, text: &str| format!("syslog.{severity} syslog-ng {pid} {host} {text}");
    let expected = [
        line("err", "A test of internal(); number='7', text='it\\'s'"),
        line("info", "A test of internal(), calmer;"),
    ];
    wait_until("both", || expected.iter().all(|e| running.text("out").lines().any(|l| l == e)));
}

#[test]
fn what_was_said_before_the_end_goes_out() {
    let mut running = Running::start(&config("host-override(elsewhere)"));
    wait_until("the source", || {
        LISTENERS.lock().iter().any(|q| Arc::ptr_eq(&q.source, &running.source("s#0")))
    });
    oplog::warning("The last word of a test", &[]);
    running.stop();
    assert!(running.text("out").contains(" elsewhere The last word of a test;"), "{}", running.text("out"));
}

#[test]
fn a_full_queue_drops_and_counts() {
    let running = Running::start(&config("log-fifo-size(100)"));
    let wakes = Arc::new(Wakes::default());
    let waker: Arc<dyn Wake> = wakes.clone();
    let source = Source::new(
        SourceName {
            group: "t".into(),
            id: "t#0".into(),
            driver: "internal",
            instance: String::new(),
            carrier: Carrier::Other,
        },
        SourceSettings::ready_made(Default::default(), Arc::default()),
    );
    let queue = Queue {
        entries: Mutex::default(),
        posted: Mutex::default(),
        limit: 3,
        waker,
        source: Arc::clone(&source),
    };
    let entry = oplog::Entry { time: Default::default(), level: oplog::Level::Notice, message: "m".into() };
    (0..5).for_each(|_| queue.push(&entry));
    assert_eq!(queue.entries.lock().len(), 3);
    assert_eq!((source.counters.received.value(), source.counters.dropped.value(Reason::QueueFull)), (2, 2));
    assert_eq!(wakes.count(), 1, "woken once for all");
    drop(running);
}

/// A destination that fails says so; what it says must not be what it fails on next.
#[test]
fn a_failing_destination_does_not_feed_the_log() {
    let text = config("").replace("%dir%/out", "%dir%/no/such/folder/out");
    let running = Running::start(&text);
    oplog::error("Into the void", &[]);
    let source = running.source("s#0");
    wait_until("the message", || {
        source.counters.received.value() > 0 && source.counters.in_work.value() == 0
    });
    oplog::error("Again", &[]);
    wait_until("the second", || source.counters.received.value() > 1);
    assert!(source.counters.received.value() < 1000);
}
