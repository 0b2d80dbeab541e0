//! What the control socket asks about queues on disk: messages dropped, dead letters tried again, foreign
//! queue files taken in.

use crate::foreign_queue::{self, Foreign};
use crate::program::Daemon;
use crate::queue::dropping::forget;
use crate::queue::importing::sentence;
use control::Refusal;
use control::queues::{QueueRequest, hex};
use engine::dead_letters::{DeadLetters, Letter};
use engine::driver::Destination;
use engine::inject::Injector;
use engine::{Acknowledge, Mark, Outlet};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use store::View;

/// Messages that are formatted together.
const BATCH_MESSAGES: usize = 256;
const ENDING: &str = "the program is about to end";

pub fn answer(program: &Daemon, request: &QueueRequest) -> Result<String, Refusal> {
    match request {
        QueueRequest::Folders => {
            let places = program.shared.durable.places();
            let lines: Vec<String> =
                places.iter().map(|place| hex(place.dir.as_os_str().as_bytes())).collect();
            Ok(lines.join("\n"))
        }
        QueueRequest::Drop { folder, queue, before } => drop_messages(program, folder, queue, *before),
        QueueRequest::Replay { to } => replay(program, to.as_deref()),
        QueueRequest::Import { file, to } => import(program, file, to),
    }
}

/// The destination of this name: `STATEMENT#N`, or the statement alone when it has one driver.
fn destination(program: &Daemon, name: &str) -> Result<Arc<dyn Destination>, Refusal> {
    let view = &program.running().view;
    let of = |id: &str| id == name || id.rsplit_once('#').is_some_and(|(statement, _)| statement == name);
    let found: Vec<_> = view.destinations.iter().filter(|(id, _)| of(id)).collect();
    match found.as_slice() {
        [(_, destination)] => Ok(Arc::clone(destination)),
        [] => Err(format!("there is no destination `{name}` that runs").into()),
        many => {
            let names: Vec<&str> = many.iter().map(|(id, _)| id.as_str()).collect();
            Err(format!("`{name}` has several drivers, name one of them: {}", names.join(", ")).into())
        }
    }
}

fn drop_messages(
    program: &Daemon,
    folder: &Path,
    queue: &[u8],
    before: Option<u64>,
) -> Result<String, Refusal> {
    let places = program.shared.durable.places();
    let place = places.iter().find(|place| place.dir == folder);
    let place = place.ok_or_else(|| format!("no destination keeps messages in {}", folder.display()))?;
    place.log.flush();
    let info =
        place.log.queues().into_iter().find(|info| info.name == queue).ok_or("there is no such queue")?;
    let until = match before {
        None => info.end,
        Some(before) => {
            let view = View::open(folder).map_err(|error| error.to_string())?;
            view.border(info.id, info.first_waiting, before, |_| ()).seq
        }
    };
    let engine = program.engine();
    let engine = engine.as_ref().ok_or(ENDING)?;
    let outlets = engine.view().destinations.iter().flat_map(|(_, destination)| destination.outlets());
    let uses =
        |outlet: &Arc<Outlet>| outlet.on_disk().is_some_and(|on| on.queue == queue && on.dir == folder);
    let (messages, outcome) = match outlets.into_iter().find(uses) {
        Some(outlet) => outlet.discard(until),
        None => (forget(&place.log, &info, Some(until))?.messages as usize, Ok(())),
    };
    let name = String::from_utf8_lossy(queue);
    oplog::notice("Messages on disk dropped on request", &[("queue", &name), ("messages", &messages)]);
    let dropped = format!("{} dropped", stdio::counted(messages as u64, "message", "messages"));
    Ok(outcome.map(|()| dropped.clone()).map_err(|why| format!("{dropped}; {why}"))?)
}

/// Dead letters are done in their order, whatever the order in which destinations are through with them.
struct Through {
    letters: Arc<DeadLetters>,
    state: Mutex<ThroughState>,
}

#[derive(Default)]
struct ThroughState {
    /// Bytes of each that is under way, by the number behind it, and whether it is through.
    under_way: BTreeMap<u64, (u64, bool)>,
}

impl Acknowledge for Through {
    /// Its destination has not got it: it goes to the end of the queue.
    fn undone(&self, number: u64) {
        let Some(queue) = self.letters.queue() else { return };
        let read = queue.read(number.saturating_sub(1), 1).ok();
        if read.is_some_and(|read| read.seqs.end == number && self.letters.again(&read.bytes)) {
            self.done(number);
        }
    }

    fn done(&self, number: u64) {
        let mut state = self.state.lock();
        if let Some((_, through)) = state.under_way.get_mut(&number) {
            *through = true;
        }
        while let Some(first) = state.under_way.first_entry().filter(|entry| entry.get().1) {
            let (next, (bytes, _)) = first.remove_entry();
            if let Some(queue) = self.letters.queue() {
                queue.done(next, 1, bytes);
            }
        }
    }
}

fn replay(program: &Daemon, to: Option<&str>) -> Result<String, Refusal> {
    let only = to.map(|to| destination(program, to)).transpose()?;
    let letters = program.shared.durable.letters()?;
    let queue = letters.queue().ok_or(ENDING)?;
    // What was kept a moment ago cannot be read before it is written.
    program.shared.durable.state_place()?.log.flush();
    let end = queue.end();
    let mut at = letters.begin_replay(end);
    let through = Arc::new(Through { letters: Arc::clone(&letters), state: Mutex::default() });
    let mut injector = Injector::new(&program.shared, program.identity());
    let (mut given, mut stays) = (0u64, BTreeMap::<String, u64>::new());
    while at < end {
        // One at a time: only so is each number known.
        let read = queue
            .read(at, 1)
            .inspect_err(|_| letters.end_replay(end, at))
            .map_err(|error| error.to_string())?;
        if read.seqs.end <= at || read.ends.is_empty() {
            letters.end_replay(end, at);
            break;
        }
        let (number, bytes, from) = (read.seqs.end, read.bytes.len() as u64, at);
        at = number;
        let outlet = Letter::decode(&read.bytes)
            .ok_or_else(|| Refusal::from("this is no dead letter"))
            .and_then(|letter| {
                let outlet = match &only {
                    Some(only) => outlet_of(&**only),
                    None => {
                        let name = String::from_utf8_lossy(letter.destination).into_owned();
                        destination(program, &name).and_then(|destination| outlet_of(&*destination))
                    }
                };
                outlet.map(|outlet| (outlet, letter))
            });
        through.state.lock().under_way.insert(number, (bytes, false));
        match outlet {
            Ok((outlet, letter)) => {
                if !injector.wait() {
                    through.state.lock().under_way.remove(&number);
                    letters.end_replay(end, from);
                    let given = stdio::counted(given, "dead letter", "dead letters");
                    return Err(format!("{given} given to destinations; these take no more").into());
                }
                let mark = Mark::new(Arc::clone(&through) as Arc<dyn Acknowledge>, number);
                injector.push(&outlet, &letter, mark);
                given += 1;
            }
            Err(refusal) => {
                // It goes to the end of the queue, so that those behind it can go.
                *stays.entry(refusal.to_string()).or_default() += 1;
                if letters.again(&read.bytes) {
                    through.done(number);
                }
            }
        }
    }
    let mut text = format!("{} given to destinations", stdio::counted(given, "dead letter", "dead letters"));
    for (why, count) in stays {
        text += &format!("; {}: {why}", stdio::counted(count, "stays", "stay"));
    }
    Ok(text)
}

fn outlet_of(destination: &dyn Destination) -> Result<Arc<Outlet>, Refusal> {
    match destination.outlets().first() {
        Some(outlet) if !destination.names_outlets() => Ok(Arc::clone(outlet)),
        _ => {
            Err(format!("{} writes to several files, which of them is not known", destination.described().0)
                .into())
        }
    }
}

fn import(program: &Daemon, path: &Path, to: &str) -> Result<String, Refusal> {
    let destination = destination(program, to)?;
    let file = Foreign::open(path)?;
    let mut injector = Injector::new(&program.shared, program.identity());
    let mut batch = foreign_queue::batch();
    let (mut given, mut refused) = (0usize, false);
    let mut flush = |batch: &mut record::Batch, injector: &mut Injector| {
        let messages = batch.records.len();
        if messages == 0 || !injector.wait() {
            return messages == 0;
        }
        injector.format(&*destination, batch);
        *batch = foreign_queue::batch();
        given += messages;
        true
    };
    let found = file.messages(|message| {
        foreign_queue::add(&mut batch, message);
        refused = batch.records.len() >= BATCH_MESSAGES && !flush(&mut batch, &mut injector);
        !refused
    });
    if refused || !flush(&mut batch, &mut injector) {
        let given = stdio::counted(given as u64, "message", "messages");
        return Err(format!("{given} given to `{to}`, which takes no more").into());
    }
    oplog::notice(
        "Queue file of syslog-ng imported",
        &[
            ("file", &path.display()),
            ("destination", &to),
            ("messages", &given),
            ("damaged", &(found.damaged + found.missing)),
        ],
    );
    Ok(format!("{}; all that were read given to `{to}`", sentence(&found)))
}
