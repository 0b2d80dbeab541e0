//! What waits for `http()` when its options change: it goes on in the new form, whether it was kept with the
//! headers of single messages or without, and by however many workers.

use crate::durable::{kill, wait_on_disk};
use crate::http::{Taken, config, feed};
use crate::kept::queue;
use crate::messages::{line, wait_waiting};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::{HttpServer, Lab, Penstock, Reply, wait_until};

const COUNT: usize = 300;
const ON_DISK: &str = "disk-buffer(reliable(yes) capacity-bytes(10MiB)) persist-name(p)";

/// A server that has no time until it is told so, and what it took then.
struct Busy {
    server: HttpServer,
    taken: Taken,
    has_time: Arc<AtomicBool>,
}

impl Busy {
    fn start() -> Busy {
        let (taken, has_time) = (Taken::default(), Arc::new(AtomicBool::new(false)));
        let (there, ready) = (taken.clone(), Arc::clone(&has_time));
        let server = HttpServer::start(0, move |request| match ready.load(Ordering::SeqCst) {
            true => there.take(request),
            false => Reply::new(503),
        });
        Busy { server, taken, has_time }
    }
}

/// How the new options come.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Reload,
    Kill,
    Stop,
}

/// Messages come with the old options and are delivered with the new ones: after a reload, a kill, a stop.
#[track_caller]
fn changes(old: &str, new: &str) {
    for by in [By::Reload, By::Kill, By::Stop] {
        let lab = Lab::new();
        let busy = Busy::start();
        let with = |options: &str| config(busy.server.port(), &format!("{options} time-reopen(1)"));
        let mut penstock = Penstock::start(&lab, &with(old));
        feed(&lab, COUNT);
        wait_waiting(&mut penstock, COUNT);
        match by {
            By::Reload => penstock.reload_with(&lab, &with(new)),
            // In memory nothing outlives that.
            By::Kill if !old.contains("disk-buffer") => continue,
            By::Kill => {
                wait_on_disk(&penstock, COUNT as u64);
                kill(penstock);
                penstock = Penstock::start(&lab, &with(new));
            }
            By::Stop => {
                penstock.stop();
                penstock = Penstock::start(&lab, &with(new));
            }
        }
        assert_eq!(penstock.ledger().waiting(), COUNT as u64, "{old} | {new}");
        let before = busy.server.requests().len();
        busy.has_time.store(true, Ordering::SeqCst);
        wait_waiting(&mut penstock, 0).assert_nothing_lost();
        assert_eq!(busy.taken.assert_all(COUNT), 0, "came twice");
        let requests = busy.server.requests().split_off(before);
        let empty = requests.iter().find(|request| request.text().lines().any(str::is_empty));
        assert!(empty.is_none(), "{old} | {new}: {:?}", empty.map(|request| request.text()));
        penstock.stop();
    }
}

#[test]
fn batches_of_messages_that_waited_for_requests_of_their_own() {
    changes("", "batch-lines(50)");
    changes("batch-lines(50)", "");
}

#[test]
fn the_same_on_disk() {
    changes(ON_DISK, &format!("{ON_DISK} batch-lines(50)"));
    changes(
        &format!("{ON_DISK} batch-lines(50)"),
        &format!("{ON_DISK} batch-lines(50) headers(\"X: $HOST\")"),
    );
}

#[test]
fn fewer_workers_take_what_waits_on_disk() {
    changes(&format!("{ON_DISK} batch-lines(9) workers(3)"), &format!("{ON_DISK} batch-lines(9)"));
    changes(&format!("{ON_DISK} workers(3)"), &format!("{ON_DISK} batch-lines(9) workers(2)"));
}

/// Two bodies with a delimiter of their own: each text is where it was.
#[test]
fn a_text_is_no_line() {
    let lab = Lab::new();
    let busy = Busy::start();
    let with = |options: &str| config(busy.server.port(), &format!("{options} time-reopen(1)"));
    let mut penstock = Penstock::start(&lab, &with("body-prefix(\"$HOST:\")"));
    feed(&lab, 2);
    wait_waiting(&mut penstock, 2);
    penstock
        .reload_with(&lab, &with("batch-lines(2) body-prefix(\"[\") delimiter(\",\") body-suffix(\"]\")"));
    busy.has_time.store(true, Ordering::SeqCst);
    wait_waiting(&mut penstock, 0).assert_nothing_lost();
    let last = busy.server.requests().pop().expect("a request");
    assert_eq!(last.text(), format!("[{},{}]", line(0, 0), line(0, 1)));
    penstock.stop();
}

#[test]
fn a_dead_letter_goes_as_it_is_taken_now() {
    let lab = Lab::new();
    let (taken, is_strict) = (Taken::default(), Arc::new(AtomicBool::new(true)));
    let (there, strict) = (taken.clone(), Arc::clone(&is_strict));
    let server = HttpServer::start(0, move |request| match strict.load(Ordering::SeqCst) {
        true => Reply::new(400).body("not what we take"),
        false => there.take(request),
    });
    let with =
        |options: &str| config(server.port(), options).replace("options {", "options { dead-letters(yes);");
    let mut penstock = Penstock::start(&lab, &with(""));
    feed(&lab, 2);
    wait_until("the letters", || queue(&lab, &["cat", "dead-letters"]).lines().count() == 2);
    let letters = queue(&lab, &["cat", "dead-letters"]);
    assert!(letters.lines().all(|letter| letter.contains("not what we take): Nov ")), "{letters}");
    is_strict.store(false, Ordering::SeqCst);
    penstock.reload_with(&lab, &with("batch-lines(10)"));
    let before = server.requests().len();
    queue(&lab, &["replay", "dead-letters"]);
    wait_until("both", || taken.lines().len() == 2);
    let bodies: Vec<String> = server.requests().split_off(before).iter().map(|r| r.text()).collect();
    assert_eq!(bodies.join("\n"), format!("{}\n{}", line(0, 0), line(0, 1)));
    penstock.stop();
}
