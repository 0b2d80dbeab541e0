//! `file()`: appends messages to files, whose name may be made from the message.

mod groups;
mod name;
mod names;
pub mod opening;
mod rotate;
mod settings;
mod sink;

use super::{disk_buffer, paced};
use crate::writer::Writer;
use diag::Fault;
use engine::driver::Destination;
use engine::ledger::{DestinationCounters, REMAINS_MAX, Reason};
use engine::program::{Format, Scratch};
use engine::{Chunk, Outbox, Outlet, QueueLimits, Shared, Sink, WorkerHandle};
use groups::Groups;
pub use name::FileName;
use name::is_safe;
use names::{NAMES_MAX, Names};
use parking_lot::{Mutex, RwLock};
use record::{Batch, Demand};
pub use rotate::Rotation;
pub use settings::{name, options};
pub use sink::FileOptions;
use sink::FileSink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The outlet of a name, as whoever makes its sink needs it.
pub struct Named {
    pub name: Vec<u8>,
    pub id: u32,
    pub home: WorkerHandle,
    pub counters: Arc<DestinationCounters>,
    /// Which numbers its messages have on disk, with `disk-buffer()`; see [`disk_buffer::numbering`].
    pub numbering: Option<u64>,
}

/// Makes what writes to the file of that name.
pub type MakeFile = Box<dyn Fn(Named) -> Box<dyn Sink> + Send + Sync>;

pub struct FileDestination {
    pub name: FileName,
    pub writer: Arc<Writer>,
    pub limits: QueueLimits,
    pub counters: Arc<DestinationCounters>,
    pub driver: &'static str,
    make: MakeFile,
    shared: OnceLock<Arc<Shared>>,
    /// The one outlet of a literal name.
    single: OnceLock<Arc<Outlet>>,
    /// Outlets by name, where messages have a say in it.
    many: RwLock<Names>,
    /// A predecessor is still to hand over: outlets write nothing. Changes with `many` locked.
    held: AtomicBool,
    /// Scratch space, one for each worker that is here at the same time.
    spare: Mutex<Vec<Sorting>>,
}

/// The messages of one batch by file.
#[derive(Default)]
struct Sorting {
    groups: Groups,
    /// The outlet of each group whose name is known.
    outlets: Vec<Option<Arc<Outlet>>>,
}

impl FileDestination {
    pub fn new(
        driver: &'static str,
        name: FileName,
        writer: Writer,
        options: FileOptions,
        limits: QueueLimits,
    ) -> FileDestination {
        let options = Arc::new(options);
        let make = Box::new(move |file: Named| -> Box<dyn Sink> {
            Box::new(FileSink::new(file.name, Arc::clone(&options)))
        });
        FileDestination::of(driver, name, writer, limits, make)
    }

    /// One whose files are written in another way.
    pub fn of(
        driver: &'static str,
        name: FileName,
        writer: Writer,
        limits: QueueLimits,
        make: MakeFile,
    ) -> FileDestination {
        FileDestination {
            name,
            writer: Arc::new(writer),
            limits,
            counters: Arc::default(),
            driver,
            make,
            shared: OnceLock::new(),
            single: OnceLock::new(),
            many: RwLock::default(),
            held: AtomicBool::new(false),
            spare: Mutex::default(),
        }
    }

    fn open(&self, path: &[u8]) -> Result<Arc<Outlet>, Fault> {
        let shared = self.shared.get().ok_or_else(|| Fault::bug("it has not started"))?;
        let home = shared.any_worker()?.clone();
        let name = String::from_utf8_lossy(path).into_owned();
        let part = if self.name.literal().is_some() { b"" } else { path };
        let numbering = disk_buffer::of(&self.writer)
            .map(|options| disk_buffer::numbering(shared, &options, part))
            .transpose()?;
        let counters = Arc::clone(&self.counters);
        let named = Named { name: path.to_vec(), id: 0, home: home.clone(), counters, numbering };
        let outlet = Outlet::new(name, Arc::clone(&self.counters), self.limits, home, |id| {
            paced::pace(&self.writer, id, (self.make)(Named { id, ..named }))
        });
        disk_buffer::keep(&self.writer, shared, &outlet, self.limits, part)?;
        Ok(outlet)
    }

    /// The outlet of a name, opened if it is not known. `keep`: its messages are not to be dropped for want
    /// of room.
    fn outlet(&self, path: &[u8], keep: bool) -> Result<Arc<Outlet>, Reason> {
        let mut many = self.many.write();
        if let Some(outlet) = many.get(path) {
            return Ok(outlet);
        }
        if !many.make_room(NAMES_MAX) && !keep {
            return Err(Reason::QueueFull);
        }
        let outlet = match self.open(path) {
            Ok(outlet) => outlet,
            Err(error) => {
                oplog::limited(
                    "file-outlet",
                    oplog::Level::Error,
                    "Messages for a file cannot be taken",
                    &[("path", &String::from_utf8_lossy(path)), ("error", &error)],
                );
                return Err(Reason::Refused);
            }
        };
        match self.held.load(Ordering::Relaxed) {
            true => outlet.hold(),
            false => outlet.attach(),
        }
        if let Some(shared) = self.shared.get() {
            many.add(path, Arc::clone(&outlet), &shared.budget, NAMES_MAX);
        }
        Ok(outlet)
    }

    /// Counts messages that no file gets.
    fn drop_all(&self, reason: Reason, batch: &Batch, selection: &[u32], scratch: &mut Scratch, name: &[u8]) {
        self.counters.accepted.add(selection.len());
        self.counters.dropped.add(reason, selection.len());
        // All of them can become dead letters, the last ones are kept in any case.
        let all = reason == Reason::Refused && self.counters.dead_letters.is_wanted();
        let first = if all { 0 } else { selection.len().saturating_sub(REMAINS_MAX) };
        let mut chunk = Chunk::default();
        self.writer.append(batch, selection.get(first..).unwrap_or_default(), scratch, &mut chunk);
        let DestinationCounters { remains, dead_letters, .. } = &*self.counters;
        let last = chunk.iter().skip(chunk.messages().saturating_sub(REMAINS_MAX));
        remains.keep(reason, selection.len(), last);
        match reason {
            Reason::Refused => {
                let why = format!("no such file may be written: {}", String::from_utf8_lossy(name));
                remains.says(&why);
                chunk.iter().for_each(|message| dead_letters.put(&why, message));
            }
            _ => oplog::limited(
                "file-names",
                oplog::Level::Error,
                "Messages wait for so many files that there is no memory for another one, dropping its messages",
                &[("location", &self.name.text()), ("dropped", &selection.len())],
            ),
        }
    }

    /// Messages of one batch go to several files: each file's messages are rendered together.
    fn format_many(&self, batch: &mut Batch, selection: &[u32], scratch: &mut Scratch, out: &mut Outbox) {
        let mut sorting = self.spare.lock().pop().unwrap_or_default();
        let Sorting { groups, outlets } = &mut sorting;
        self.name.group(batch, selection, scratch, groups);
        // Workers meet here with every batch: one lock for all its names, and each only reads.
        self.many.read().get_all(groups.iter().map(|(name, _)| name), outlets);
        for ((name, selection), known) in groups.iter().zip(outlets.drain(..)) {
            let name = self.name.cut(name);
            let outlet = match known {
                Some(outlet) => Ok(outlet),
                None if is_safe(name) => self.outlet(name, out.flow_control),
                None => {
                    oplog::limited(
                        "spurious-path",
                        oplog::Level::Error,
                        "Spurious path, logfile not created",
                        &[("path", &String::from_utf8_lossy(name))],
                    );
                    Err(Reason::Refused)
                }
            };
            match outlet {
                Ok(outlet) => self.writer.deliver(batch, selection, scratch, out, &outlet),
                Err(reason) => self.drop_all(reason, batch, selection, scratch, name),
            }
        }
        self.spare.lock().push(sorting);
    }
}

impl Format for FileDestination {
    fn format(&self, batch: &mut Batch, selection: &[u32], scratch: &mut Scratch, out: &mut Outbox) {
        match self.single.get() {
            Some(outlet) => self.writer.deliver(batch, selection, scratch, out, outlet),
            None => self.format_many(batch, selection, scratch, out),
        }
    }

    fn preview(&self, batch: &mut Batch, index: u32, scratch: &mut Scratch) -> Vec<(String, Vec<u8>)> {
        let mut groups = Groups::default();
        self.name.group(batch, &[index], scratch, &mut groups);
        let name = groups.iter().next().map(|(name, _)| String::from_utf8_lossy(name).into_owned());
        let shown = self.writer.preview(batch, index, scratch);
        name.into_iter().zip(shown).collect()
    }

    fn reads(&self, demand: &mut Demand) {
        self.name.reads(demand);
        self.writer.reads(demand);
    }
}

impl Destination for FileDestination {
    fn counters(&self) -> &Arc<DestinationCounters> {
        &self.counters
    }

    fn start(&self, shared: &Arc<Shared>) -> Result<(), Fault> {
        let _ = self.shared.set(Arc::clone(shared));
        self.writer.recall_numbers(shared.state());
        if let Some(path) = self.name.literal() {
            let _ = self.single.set(self.open(path)?);
        } else {
            let options = match disk_buffer::of(&self.writer) {
                Some(options) => {
                    shared.durable.place(&options)?;
                    options
                }
                None => disk_buffer::refuge(&self.writer, self.limits),
            };
            // What waits on disk for a file is not to wait for its next message.
            for path in shared.durable.waiting_parts(&options) {
                let outlet = self.open(&path)?;
                self.many.write().add(&path, outlet, &shared.budget, NAMES_MAX);
            }
        }
        Ok(())
    }

    fn outlets(&self) -> Vec<Arc<Outlet>> {
        self.single.get().cloned().into_iter().chain(self.many.read().outlets().cloned()).collect()
    }

    fn names_outlets(&self) -> bool {
        self.name.literal().is_none()
    }

    fn outlet_named(&self, name: &str) -> Option<Arc<Outlet>> {
        // A name that is not UTF-8 is not known whole.
        if name.contains(char::REPLACEMENT_CHARACTER) {
            None
        } else {
            self.outlet(name.as_bytes(), true).ok()
        }
    }

    fn hold(&self) {
        let many = self.many.write();
        self.held.store(true, Ordering::Relaxed);
        self.single.get().into_iter().chain(many.outlets()).for_each(|outlet| outlet.hold());
    }

    fn release(&self) {
        let many = self.many.write();
        self.held.store(false, Ordering::Relaxed);
        let outlets: Vec<_> = self.single.get().into_iter().chain(many.outlets()).cloned().collect();
        drop(many);
        outlets.iter().for_each(|outlet| outlet.release());
    }

    fn described(&self) -> (&'static str, String) {
        (self.driver, self.name.text().to_owned())
    }
}
