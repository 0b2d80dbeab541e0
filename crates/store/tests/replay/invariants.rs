//! What has to hold whatever the files of a store hold: opening says what it finds, reading ends. Shared by
//! the fuzz target and by the test that replays its seeds.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use store::{Files, Log, Options, SegmentFile};

/// Files in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<BTreeMap<String, Bytes>>>);

#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

/// What a file is called, by the highest bits of the two bytes in front of it. Without the first of them it
/// is a segment, delivered or not.
const NAMES: [(u16, &str); 2] = [(0xc000, "progress"), (0x8000, "cursors")];

/// The input is cut into files: two bytes say how long each is, the highest of their bits which. Returns how
/// many messages were read.
pub fn store(mut input: &[u8]) -> usize {
    let files = Memory::default();
    let mut first = 1u64;
    while let Some((said, rest)) = input.split_first_chunk::<2>() {
        let said = u16::from_le_bytes(*said);
        let (bytes, rest) = rest.split_at(usize::from(said & 0x3fff).min(rest.len()));
        let file = Bytes(Arc::new(Mutex::new(bytes.to_vec())));
        let name = match NAMES.iter().find(|(bits, _)| said & 0xc000 == *bits) {
            Some((_, name)) => (*name).to_owned(),
            None => {
                first += 100;
                format!("{:020}.{}", first - 100, if said & 0x4000 != 0 { "free" } else { "log" })
            }
        };
        files.0.lock().unwrap().insert(name, file);
        input = rest;
    }
    // The key of all inputs is 0.
    let mut key = b"PSTOREK\x01\0\0\0\0\0\0\0\0".to_vec();
    key.extend_from_slice(&0x7af5_1bc5u32.to_le_bytes());
    files.0.lock().unwrap().insert("key".to_owned(), Bytes(Arc::new(Mutex::new(key))));
    let mut messages = 0;
    for _ in 0..2 {
        let options = Options {
            dir: PathBuf::new(),
            segment_bytes: 1 << 15,
            free_segments: 2,
            read_patience: std::time::Duration::ZERO,
            files: Some(Box::new(files.clone())),
        };
        let Ok(opened) = Log::open(options) else { return messages };
        for info in opened.log.queues() {
            let Ok(queue) = opened.log.queue(&info.name, 1 << 20, Box::new(|| ())) else { continue };
            let mut at = queue.first_waiting();
            let mut reads = 0;
            while at < queue.end() {
                let read = queue.read(at, 1000).unwrap();
                assert!(read.seqs.start == at && read.seqs.end > at);
                assert_eq!(read.ends.last().map_or(0, |end| *end as usize), read.bytes.len());
                messages += read.ends.len();
                at = read.seqs.end;
                reads += 1;
                assert!(reads <= 10_000);
            }
            queue.done(at, 0, 0);
            assert_eq!(queue.waiting().messages, 0);
        }
        opened.log.close();
    }
    messages
}

impl Files for Memory {
    fn claim(&self) -> io::Result<()> {
        Ok(())
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().unwrap().keys().cloned().collect())
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        let file = self.0.lock().unwrap().get(name).cloned();
        Ok(Arc::new(file.ok_or(io::ErrorKind::NotFound)?))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        let file = Bytes::default();
        self.0.lock().unwrap().insert(name.to_owned(), file.clone());
        Ok(Arc::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.0.lock().unwrap();
        let file = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.lock().unwrap().remove(name).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_folder(&self) -> io::Result<()> {
        Ok(())
    }

    /// What was noted is of this era, if it says so.
    fn era(&self) -> u64 {
        1
    }

    fn bytes_free(&self) -> io::Result<u64> {
        Ok(1 << 40)
    }
}

impl SegmentFile for Bytes {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let file = self.0.lock().unwrap();
        let tail = file.get(at as usize..).unwrap_or_default();
        let count = tail.len().min(bytes.len());
        bytes[..count].copy_from_slice(&tail[..count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        let mut file = self.0.lock().unwrap();
        let end = at as usize + bytes.len();
        if file.len() < end {
            file.resize(end, 0);
        }
        file[at as usize..end].copy_from_slice(bytes);
        Ok(bytes.len())
    }

    fn write_pages(&self, _: &[u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().len() as u64)
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        let mut file = self.0.lock().unwrap();
        if (file.len() as u64) < length {
            file.resize(length as usize, 0);
        }
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.lock().unwrap().resize(length as usize, 0);
        Ok(())
    }
}
