//! The state folder damaged or missing: the program starts all the same, and says what it found.

use crate::durable::wait_on_disk;
use crate::messages::{HEAD, assert_complete, send};
use std::path::Path;
use testkit::{Collector, Lab, Penstock};

/// A file is read into a network destination: the state file has its position.
const READ: &str = "source s { file(\"%dir%/in\"); };\n\
    destination d { file(\"%dir%/out\" template(\"$MESSAGE\\n\")); };\nlog { source(s); destination(d); };\n";

fn start(lab: &Lab, text: &str) -> Penstock {
    Penstock::start(lab, &format!("{HEAD}{text}").replace("%dir%", &lab.dir().display().to_string()))
}

/// Starts on the damaged file, with what is in it read again or not, and ends.
fn starts_with(lab: &Lab, what: &str) -> String {
    let penstock = start(lab, READ);
    let log = penstock.stop();
    assert!(!log.contains("cannot use"), "{what}: {log}");
    log
}

fn asides(lab: &Lab) -> usize {
    let names = std::fs::read_dir(lab.path("state")).expect("the state folder");
    names.flatten().filter(|e| e.file_name().to_string_lossy().starts_with("penstock.state.damaged")).count()
}

#[test]
fn no_damage_of_the_state_file_ends_a_start() {
    let lab = Lab::new();
    std::fs::write(lab.path("in"), "one\ntwo\n").expect("a file to read");
    let mut penstock = start(&lab, READ);
    penstock.wait_settled(2);
    penstock.stop();
    let state = lab.path("state/penstock.state");
    let good = std::fs::read(&state).expect("a state file");
    assert!(good.len() > 40, "{} bytes", good.len());
    for at in [0, 3, 6, 7] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        std::fs::write(&state, &bytes).expect("damage");
        let before = asides(&lab);
        let log = starts_with(&lab, &format!("bit {at}"));
        assert!(log.contains("was moved aside") && log.contains("penstock.state.damaged"), "{log}");
        assert_eq!(asides(&lab), before + 1);
    }
    for at in [8, 13, 17, good.len() - 1] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        std::fs::write(&state, &bytes).expect("damage");
        let log = starts_with(&lab, &format!("bit {at}"));
        assert!(log.contains("damaged record"), "{at}: {log}");
    }
    for length in [0, 1, 7, 8, 9, good.len() - 1] {
        std::fs::write(&state, &good[..length]).expect("damage");
        starts_with(&lab, &format!("cut to {length}"));
    }
    std::fs::remove_file(&state).expect("it is there");
    std::fs::create_dir(&state).expect("a folder in its place");
    assert!(starts_with(&lab, "a folder").contains("was moved aside"));
}

/// What is acknowledged behind the removal is there after a kill; what was there before too, as long as its
/// file was open.
#[test]
fn a_state_folder_that_is_removed_is_written_anew() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\nsource f {{ file(\"%path:read%\"); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%) disk-buffer(capacity-bytes(1GiB) reliable(yes))); }};\n\
         destination o {{ file(\"%path:out%\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\nlog {{ source(f); destination(o); }};\n"
    );
    std::fs::write(lab.path("read"), "one\n").expect("a file to read");
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, 0, 100);
    wait_on_disk(&penstock, 100);
    std::fs::remove_dir_all(lab.path("state")).expect("the state folder is there");
    penstock.wait_log("The state file was removed while it is in use");
    penstock.wait_log("The folder of the store, or its file, was removed");
    send(&lab, 100, 100);
    testkit::wait_until("the rest is on disk", || {
        testkit::run_command(&["queue", "--state-dir", &lab.path("state").display().to_string(), "ls"])
            .stdout
            .contains("200")
    });
    assert!(lab.path("state/penstock.state").exists() && lab.path("state/identity").exists());
    penstock.process().child().kill().expect("it runs");
    penstock.wait_end();
    let penstock = Penstock::start(&lab, &config);
    let collector = Collector::tcp(lab.port("out"));
    let lines = collector.wait_lines(200);
    let different: std::collections::BTreeSet<_> = lines.iter().collect();
    assert_eq!(different.len(), 200, "all that was acknowledged");
    penstock.stop();
}

#[test]
fn the_folder_of_a_queue_is_made_where_its_parent_is() {
    let lab = Lab::new();
    let config = |dir: &Path| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\ndestination d {{ network(127.0.0.1 port(%port:out%) \
             disk-buffer(capacity-bytes(1GiB) reliable(yes) dir(\"{}\"))); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n",
            dir.display()
        )
    };
    let penstock = Penstock::start(&lab, &config(&lab.path("queues")));
    send(&lab, 0, 100);
    wait_on_disk(&penstock, 100);
    assert!(lab.path("queues/penstock-store").is_dir());
    let collector = Collector::tcp(lab.port("out"));
    assert_complete(&collector.wait_lines(100), 1, 100);
    // A parent that is missing is a mistake.
    penstock.rewrite(&lab, &config(&lab.path("none/queues")));
    let answer = penstock.reload();
    assert!(!answer.starts_with("OK") && answer.contains("none/queues"), "{answer}");
    penstock.stop();
}

/// What a kill in the middle of it comes to: the messages were not moved, and where they are must stay known.
#[test]
fn what_could_not_be_moved_to_a_renamed_destination_is_moved_by_the_next_start() {
    let lab = Lab::new();
    let config = |name: &str, folder: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\ndestination {name} {{ network(127.0.0.1 port(%port:out%) \
             disk-buffer(capacity-bytes(1GiB) reliable(yes) dir(\"{}\"))); }};\n\
             log {{ source(s); destination({name}); flags(flow-control); }};\n",
            lab.path(folder).display()
        )
    };
    let penstock = Penstock::start(&lab, &config("d", "one"));
    send(&lab, 0, 100);
    wait_on_disk(&penstock, 100);
    penstock.stop();
    let lock =
        std::fs::File::options().write(true).open(lab.path("one/penstock-store/lock")).expect("its lock");
    lock.lock().expect("nobody has it");
    let mut penstock = Penstock::start(&lab, &config("e", "two"));
    penstock.wait_log("cannot be moved to where it keeps its messages now");
    penstock.stop();
    drop(lock);
    let penstock = Penstock::start(&lab, &config("e", "two"));
    let collector = Collector::tcp(lab.port("out"));
    assert_complete(&collector.wait_lines(100), 1, 100);
    penstock.stop();
}
