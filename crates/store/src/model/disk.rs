//! A disk in memory with everything that disks do: what is not synced may be lost sector by sector, syncs
//! fail and lie afterwards, space ends, writes are short, names are as old as the last sync of the folder.

use crate::files::{Files, SegmentFile};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::sync::Arc;

const SECTOR: usize = 512;

/// Random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// What goes wrong while the store works: once in so many calls; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub sync: u64,
    pub write: u64,
    pub short: u64,
    pub folder: u64,
    pub create: u64,
    pub read: u64,
    /// Reads that fail and are as good as ever when they are tried again.
    pub unreadable: u64,
}

pub struct Disk {
    random: Random,
    /// Of its own, so that seeds mean what they meant before there was this fault.
    unreadable: Random,
    pub faults: Faults,
    /// Bytes there are.
    pub space: u64,
    names: BTreeMap<String, usize>,
    /// As they were at the last sync of the folder, and what was done since.
    names_safe: BTreeMap<String, usize>,
    changes: Vec<BTreeMap<String, usize>>,
    nodes: Vec<Node>,
    /// Power losses so far, and one.
    era: u64,
}

#[derive(Default)]
struct Node {
    /// What cannot be read of it.
    bad: std::ops::Range<usize>,
    now: Vec<u8>,
    safe: Vec<u8>,
    dirty: BTreeSet<usize>,
}

#[derive(Clone)]
pub struct Handle(pub Arc<Mutex<Disk>>);

struct Open {
    disk: Arc<Mutex<Disk>>,
    node: usize,
}

impl Handle {
    pub fn new(seed: u64) -> Handle {
        Handle(Arc::new(Mutex::new(Disk::new(seed))))
    }
}

impl Disk {
    pub fn new(seed: u64) -> Disk {
        Disk {
            random: Random(seed),
            unreadable: Random(!seed),
            faults: Faults::default(),
            space: u64::MAX,
            names: BTreeMap::new(),
            names_safe: BTreeMap::new(),
            changes: Vec::new(),
            nodes: Vec::new(),
            era: 1,
        }
    }

    /// All files, by name.
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        self.names.iter().map(|(name, node)| (name.clone(), self.nodes[*node].now.clone())).collect()
    }

    /// These files and no others, all of them safe.
    pub fn with(mut self, contents: &BTreeMap<String, Vec<u8>>) -> Disk {
        self.nodes = contents
            .values()
            .map(|bytes| Node { now: bytes.clone(), safe: bytes.clone(), ..Node::default() })
            .collect();
        self.names = contents.keys().cloned().zip(0..).collect();
        self.names_safe = self.names.clone();
        self
    }

    fn fails(&mut self, once_in: u64) -> bool {
        once_in > 0 && self.random.once_in(once_in)
    }

    fn used(&self) -> u64 {
        self.names.values().map(|node| self.nodes[*node].now.len() as u64).sum()
    }

    fn changed(&mut self) {
        self.changes.push(self.names.clone());
    }

    /// The power goes and comes back.
    pub fn power_loss(&mut self) {
        self.era += 1;
        let kept = self.random.below(self.changes.len() as u64 + 1) as usize;
        if let Some(names) = kept.checked_sub(1).map(|last| self.changes[last].clone()) {
            self.names_safe = names;
        }
        self.names = self.names_safe.clone();
        self.changes.clear();
        let likely = 1 + self.random.below(8);
        for node in &mut self.nodes {
            let length = if self.random.once_in(2) { node.now.len() } else { node.safe.len() };
            node.safe.resize(length, 0);
            for sector in std::mem::take(&mut node.dirty) {
                let range = sector * SECTOR..((sector + 1) * SECTOR).min(length).min(node.now.len());
                if range.start < range.end && !self.random.once_in(likely) {
                    node.safe[range.clone()].copy_from_slice(&node.now[range]);
                }
            }
            node.now = node.safe.clone();
        }
    }

    /// From now on, these bytes of a file cannot be read.
    pub fn wear_out(&mut self, name: &str, bad: std::ops::Range<usize>) {
        self.nodes[self.names[name]].bad = bad;
    }

    /// Damages one segment somewhere; returns how many bytes in a row.
    pub fn damage(&mut self) -> usize {
        let names: Vec<usize> =
            self.names.iter().filter(|(name, _)| name.ends_with(".log")).map(|(_, node)| *node).collect();
        if names.is_empty() {
            return 0;
        }
        let node = &mut self.nodes[names[self.random.below(names.len() as u64) as usize]];
        let length = node.now.len();
        if length == 0 {
            return 0;
        }
        let at = self.random.below(length as u64) as usize;
        let bytes = match self.random.below(3) {
            0 => {
                node.now[at] ^= 1 << self.random.below(8);
                1
            }
            1 => {
                let page = at / 4096 * 4096;
                let end = (page + 4096).min(length);
                node.now[page..end].fill(0);
                end - page
            }
            _ => {
                let end = (at + 1 + self.random.below(1000) as usize).min(length);
                for byte in &mut node.now[at..end] {
                    *byte = self.random.next() as u8;
                }
                end - at
            }
        };
        node.safe = node.now.clone();
        node.dirty.clear();
        bytes
    }
}

fn error(kind: ErrorKind) -> io::Error {
    io::Error::new(kind, "the disk of the model")
}

impl Files for Handle {
    fn claim(&self) -> io::Result<()> {
        Ok(())
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().names.keys().cloned().collect())
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        let node = self.0.lock().names.get(name).copied().ok_or_else(|| error(ErrorKind::NotFound))?;
        Ok(Arc::new(Open { disk: self.0.clone(), node }))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        let mut disk = self.0.lock();
        let once_in = disk.faults.create;
        if disk.fails(once_in) {
            return Err(error(ErrorKind::PermissionDenied));
        }
        let node = disk.nodes.len();
        disk.nodes.push(Node::default());
        disk.names.insert(name.to_owned(), node);
        disk.changed();
        Ok(Arc::new(Open { disk: self.0.clone(), node }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut disk = self.0.lock();
        let node = disk.names.remove(from).ok_or_else(|| error(ErrorKind::NotFound))?;
        disk.names.insert(to.to_owned(), node);
        disk.changed();
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut disk = self.0.lock();
        disk.names.remove(name).ok_or_else(|| error(ErrorKind::NotFound))?;
        disk.changed();
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        let mut disk = self.0.lock();
        let once_in = disk.faults.folder;
        if disk.fails(once_in) {
            return Err(error(ErrorKind::Other));
        }
        disk.names_safe = disk.names.clone();
        disk.changes.clear();
        Ok(())
    }

    fn era(&self) -> u64 {
        self.0.lock().era
    }

    fn bytes_free(&self) -> io::Result<u64> {
        let disk = self.0.lock();
        Ok(disk.space.saturating_sub(disk.used()))
    }
}

impl Open {
    fn write(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        let mut disk = self.disk.lock();
        let Faults { write, short, .. } = disk.faults;
        if disk.fails(write) {
            return Err(error(ErrorKind::Other));
        }
        let mut count = bytes.len();
        if disk.fails(short) {
            count = 1 + disk.random.below(count as u64) as usize;
        }
        let at = at as usize;
        let grows = (at + count).saturating_sub(disk.nodes[self.node].now.len()) as u64;
        if grows > 0 && disk.used() + grows > disk.space {
            return Err(error(ErrorKind::StorageFull));
        }
        let node = &mut disk.nodes[self.node];
        if node.now.len() < at + count {
            node.now.resize(at + count, 0);
        }
        node.now[at..at + count].copy_from_slice(&bytes[..count]);
        node.dirty.extend(at / SECTOR..(at + count).div_ceil(SECTOR));
        Ok(count)
    }
}

impl SegmentFile for Open {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let mut disk = self.disk.lock();
        let once_in = disk.faults.read;
        if disk.fails(once_in) {
            return Err(error(ErrorKind::Interrupted));
        }
        let once_in = disk.faults.unreadable;
        if once_in > 0 && disk.unreadable.once_in(once_in) {
            return Err(error(ErrorKind::Other));
        }
        let Node { now, bad, .. } = &disk.nodes[self.node];
        let at = at as usize;
        let tail = now.get(at..).unwrap_or_default();
        let mut count = tail.len().min(bytes.len());
        if at < bad.end && at + count > bad.start {
            count = bad.start.saturating_sub(at);
            if count == 0 {
                return Err(error(ErrorKind::Other));
            }
        }
        bytes[..count].copy_from_slice(&tail[..count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        self.write(bytes, at)
    }

    fn write_pages(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        assert!(at.is_multiple_of(4096) && bytes.len().is_multiple_of(4096));
        assert!(bytes.as_ptr().align_offset(4096) == 0);
        self.write(bytes, at)
    }

    fn read_pages(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        assert!(at.is_multiple_of(4096) && bytes.len().is_multiple_of(4096));
        assert!(bytes.as_ptr().align_offset(4096) == 0);
        bytes.fill(0xee);
        self.read_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        let mut disk = self.disk.lock();
        let once_in = disk.faults.sync;
        let fails = disk.fails(once_in);
        let Disk { nodes, random, .. } = &mut *disk;
        let node = &mut nodes[self.node];
        if !fails {
            for sector in std::mem::take(&mut node.dirty) {
                let end = ((sector + 1) * SECTOR).min(node.now.len());
                if node.safe.len() < end {
                    node.safe.resize(end, 0);
                }
                let start = (sector * SECTOR).min(end);
                node.safe[start..end].copy_from_slice(&node.now[start..end]);
            }
            node.safe.resize(node.now.len(), 0);
            return Ok(());
        }
        // As kernels do: what could not be written counts as clean from now on, and is read as if it had
        // been.
        for sector in std::mem::take(&mut node.dirty) {
            let range = sector * SECTOR..((sector + 1) * SECTOR).min(node.now.len());
            if random.once_in(2) && range.start < range.end && range.end <= node.safe.len() {
                node.safe[range.clone()].copy_from_slice(&node.now[range]);
            }
        }
        Err(error(ErrorKind::Other))
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.lock().nodes[self.node].now.len() as u64)
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        let mut disk = self.disk.lock();
        let now = disk.nodes[self.node].now.len() as u64;
        if length > now {
            if disk.used() + (length - now) > disk.space {
                return Err(error(ErrorKind::StorageFull));
            }
            disk.nodes[self.node].now.resize(length as usize, 0);
        }
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.disk.lock().nodes[self.node].now.resize(length as usize, 0);
        Ok(())
    }
}
