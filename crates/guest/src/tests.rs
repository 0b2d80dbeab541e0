//! Guests that do well, panic, end and block, judged by what reaches their server and by what the ledger
//! says.

use crate::{Caller, Job, Jobs, Line, Order};
use delivery::single::SinkContext;
use delivery::testing::{Rig, wait_until};
use engine::Sink;
use flight::{Limits, Outcome, Part};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What arrived, in its order.
type Server = Arc<Mutex<Vec<String>>>;
type Load = Vec<String>;

fn load(part: &Part<'_>) -> Load {
    part.messages.iter().map(|message| String::from_utf8_lossy(message).into_owned()).collect()
}

fn rig<R>(serve: impl Fn(Jobs<Load>) -> R + Clone + Send + Sync + 'static) -> Rig
where
    R: Future<Output = ()> + Send + 'static,
{
    Rig::new(Box::new(move |place: SinkContext| -> Box<dyn Sink> {
        let line = Line::open(Caller::at(&place), "test", 2, load, serve.clone());
        let limits =
            Limits { lines: 2, away: 2, time_reopen: Duration::from_millis(100), ..Limits::default() };
        line.sink(limits, &place.counters)
    }))
}

fn take(server: &Server, job: Job<Load>) {
    server.lock().extend(job.load);
    job.answer.say(Outcome::Delivered);
}

fn delivered(rig: &Rig, count: u64) {
    wait_until("delivery", || rig.counters().delivered.value() == count);
    rig.wait_balanced();
}

#[test]
fn what_a_guest_answers_is_settled() {
    let server = Server::default();
    let there = Arc::clone(&server);
    let rig = rig(move |jobs| {
        let server = Arc::clone(&there);
        async move {
            while let Some(order) = jobs.next().await {
                match order {
                    Order::Send(job) => take(&server, job),
                    Order::Reopen => server.lock().push("reopened".to_owned()),
                }
            }
            server.lock().push("left".to_owned());
        }
    });
    rig.send(&["a", "b", "c"]);
    delivered(&rig, 3);
    rig.outlet.reopen();
    wait_until("the order", || server.lock().len() == 4);
    drop(rig);
    wait_until("the end", || server.lock().last().is_some_and(|last| last == "left"));
    assert_eq!(*server.lock(), ["a", "b", "c", "reopened", "left"]);
}

#[test]
fn one_that_panics_or_ends_begins_anew_and_gets_its_batches_again() {
    let (server, begun) = (Server::default(), Arc::new(AtomicUsize::new(0)));
    let (there, count) = (Arc::clone(&server), Arc::clone(&begun));
    let rig = rig(move |jobs| {
        let (server, nth) = (Arc::clone(&there), count.fetch_add(1, Ordering::SeqCst));
        async move {
            while let Some(order) = jobs.next().await {
                match (order, nth) {
                    (Order::Send(_), 0) => panic!("a bug of the library"),
                    (Order::Send(_), 1) => return,
                    (Order::Send(job), _) => take(&server, job),
                    (Order::Reopen, _) => {}
                }
            }
        }
    });
    rig.send(&["a", "b", "c"]);
    delivered(&rig, 3);
    assert_eq!(*server.lock(), ["a", "b", "c"]);
    assert!(begun.load(Ordering::SeqCst) >= 3);
}

#[test]
fn one_that_blocks_holds_neither_its_worker_nor_another_guest() {
    let (free, blocked) = std::sync::mpsc::channel::<()>();
    let blocked = Arc::new(Mutex::new(blocked));
    let stuck = rig(move |jobs| {
        let blocked = Arc::clone(&blocked);
        async move {
            while let Some(Order::Send(job)) = jobs.next().await {
                let _ = blocked.lock().recv();
                job.answer.say(Outcome::Delivered);
            }
        }
    });
    stuck.send(&["a", "b"]);
    let well = rig(|jobs| async move {
        while let Some(Order::Send(job)) = jobs.next().await {
            job.answer.say(Outcome::Delivered);
        }
    });
    well.send(&["c", "d"]);
    delivered(&well, 2);
    assert_eq!(stuck.counters().delivered.value(), 0);
    free.send(()).expect("still there");
    delivered(&stuck, 2);
}
