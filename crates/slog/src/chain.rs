//! A chain that lives in a key file and a MAC file: shared by all of the process, and on disk ahead of its
//! entries.
//!
//! The files are written before entries leave, once for the many that leave together. They are written in
//! place: the 88 bytes of the key file lie in one page, so a kill leaves the old ones or the new ones; the
//! old key is overwritten instead of left to a search of the free blocks; and links, owners and rights stay.
//! The key file also has the MAC, so the two files cannot come apart: what the MAC file says is a copy for
//! `slogverify`.
//!
//! What the key file says counts: when somebody put another one there, or another process went on with it,
//! the chain follows.

use crate::error::Error;
use crate::files;
use crate::key::Scheme;
use crate::position::{KEY_FILE_BYTES, Position, WHOLE_FILE_BYTES, encode_mac};
use parking_lot::Mutex;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Under load the key file is made safe against a loss of power so often.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// How long another process that seals with the same key is waited for: that takes it a millisecond.
const TRIES: usize = 200;
const TRY_AFTER: Duration = Duration::from_millis(1);

pub struct Chain {
    id: u32,
    key_path: PathBuf,
    mac_path: PathBuf,
    live: Mutex<Live>,
}

struct Live {
    position: Position,
    /// What the key file said when we last looked or wrote.
    seen: Zeroizing<[u8; KEY_FILE_BYTES]>,
    key: Open,
    mac: Option<Open>,
    synced: Option<Instant>,
}

/// An open file, and which one it is.
struct Open {
    file: File,
    identity: (u64, u64),
}

/// Every chain there ever was: a message that waits for long still finds its own.
static CHAINS: Mutex<Vec<Arc<Chain>>> = Mutex::new(Vec::new());

pub(crate) fn by_id(id: u32) -> Option<Arc<Chain>> {
    CHAINS.lock().get(id as usize).cloned()
}

impl Open {
    fn at(path: &Path, create: bool) -> std::io::Result<Open> {
        let mut how = OpenOptions::new();
        how.read(true).write(true).create(create).truncate(false).mode(0o600);
        let file = how.open(path)?;
        let about = file.metadata()?;
        Ok(Open { file, identity: (about.dev(), about.ino()) })
    }

    fn is_readable_for_others(&self) -> bool {
        self.file.metadata().is_ok_and(|about| about.mode() & 0o044 != 0)
    }

    fn is_at(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|about| (about.dev(), about.ino()) == self.identity)
    }

    fn read(&self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// What a key file holds.
struct Contents {
    bytes: Zeroizing<[u8; WHOLE_FILE_BYTES]>,
    length: usize,
}

impl Contents {
    fn of(open: &Open) -> std::io::Result<Contents> {
        let mut bytes = Zeroizing::new([0; WHOLE_FILE_BYTES]);
        let length = open.read(&mut bytes[..])?;
        Ok(Contents { bytes, length })
    }

    fn all(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn start(&self) -> Zeroizing<[u8; KEY_FILE_BYTES]> {
        let mut start = Zeroizing::new([0; KEY_FILE_BYTES]);
        start.iter_mut().zip(self.all()).for_each(|(to, from)| *to = *from);
        start
    }
}

impl Chain {
    /// The chain of a key file and a MAC file, the same one for all who ask. The key has to be there and
    /// writable; the MAC file only once there are entries. `wanted` says how a chain begins that has none
    /// yet. Nothing is written.
    pub fn open(key: &Path, mac: &Path, wanted: Scheme) -> Result<Arc<Chain>, Error> {
        let key = std::path::absolute(key).map_err(|e| Error::file(key, e))?;
        let mac = std::path::absolute(mac).map_err(|e| Error::file(mac, e))?;
        if !crate::draft::is_ready() {
            let error = std::io::Error::other("the system has no random numbers");
            return Err(Error::file(&key, error));
        }
        let open = Open::at(&key, false).map_err(|e| Error::file(&key, e))?;
        let contents = Contents::of(&open).map_err(|e| Error::file(&key, e))?;
        let position = files::position(&key, contents.all(), &mac, wanted)?;
        if position.key.scheme() == Scheme::Expanded && files::first_mac_path(&mac) == mac {
            let error = "it is where the first MAC is kept, give the MAC file another name";
            return Err(Error::file(&mac, std::io::Error::other(error)));
        }
        let mut mac_file = None;
        if !mac.exists() {
            let folder = mac.parent().unwrap_or(Path::new("/"));
            let about = std::fs::metadata(folder).map_err(|e| Error::file(folder, e))?;
            if !about.is_dir() {
                return Err(Error::file(folder, std::io::ErrorKind::NotADirectory.into()));
            }
        } else {
            // Kept: the program may give up the right to open it.
            mac_file = Some(Open::at(&mac, false).map_err(|e| Error::file(&mac, e))?);
        }
        let mut chains = CHAINS.lock();
        let same = |chain: &&Arc<Chain>| chain.key_path == key && chain.mac_path == mac;
        if let Some(chain) = chains.iter().find(same) {
            return Ok(Arc::clone(chain));
        }
        if open.is_readable_for_others() {
            oplog::warning(
                "Key file can be read by other users; they can open and forge what comes from now on",
                &[("key_file", &key.display()), ("remedy", &"chmod 600")],
            );
        }
        let live = Live { position, seen: contents.start(), key: open, mac: mac_file, synced: None };
        let chain =
            Arc::new(Chain { id: chains.len() as u32, key_path: key, mac_path: mac, live: Mutex::new(live) });
        chains.push(Arc::clone(&chain));
        Ok(chain)
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Two uses that share one of these must be one use.
    pub fn paths(&self) -> [&Path; 2] {
        [&self.key_path, &self.mac_path]
    }

    /// Seals with the chain, alone, and notes in the files how far it went.
    pub(crate) fn advance(&self, seal: impl FnOnce(&mut Position)) {
        let mut live = self.live.lock();
        self.follow(&mut live);
        let locked = self.lock(&live.key.file);
        self.take_up(&mut live);
        self.begin(&mut live.position);
        seal(&mut live.position);
        self.note(&mut live);
        if locked {
            let _ = flock(&live.key.file, FlockOperation::Unlock);
        }
    }

    /// Before the first entry: what the MAC begins with.
    fn begin(&self, position: &mut Position) {
        if position.counter > 0 || position.key.scheme() == Scheme::Blocks {
            return;
        }
        match files::begin_mac(&self.mac_path) {
            Ok(mac) => position.mac = mac,
            Err(error) => {
                self.complain("The file of the first MAC cannot be made, the log cannot be verified", &error)
            }
        }
    }

    /// Opens the key file anew when another one took its place.
    fn follow(&self, live: &mut Live) {
        if live.key.is_at(&self.key_path) {
            return;
        }
        match Open::at(&self.key_path, true) {
            Ok(open) => live.key = open,
            Err(error) => self.complain("Key file cannot be opened, its chain goes on in memory", &error),
        }
    }

    /// Another process does not seal at the same time.
    fn lock(&self, file: &File) -> bool {
        for _ in 0..TRIES {
            match flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return true,
                Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(TRY_AFTER),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    self.complain("Key file cannot be locked", &error);
                    return false;
                }
            }
        }
        self.complain("Key file is in use by another program", &"it is locked");
        false
    }

    /// Goes on from where the key file says, when that is not where we left it.
    fn take_up(&self, live: &mut Live) {
        let contents = match Contents::of(&live.key) {
            Ok(contents) => contents,
            Err(error) => {
                return self.complain("Key file cannot be read, its chain goes on in memory", &error);
            }
        };
        let start = contents.start();
        if contents.length >= KEY_FILE_BYTES && start == live.seen {
            return;
        }
        // A file that we made because it was gone.
        if contents.length == 0 {
            return;
        }
        let wanted = live.position.key.scheme();
        match files::position(&self.key_path, contents.all(), &self.mac_path, wanted) {
            Ok(position) => {
                oplog::notice(
                    "Key file was changed, going on from there",
                    &[
                        ("key_file", &self.key_path.display()),
                        ("entry", &position.counter),
                        ("entry_before", &live.position.counter),
                    ],
                );
                live.position = position;
                live.seen = start;
            }
            Err(error) => self.complain("Key file was damaged, its chain goes on from memory", &error),
        }
    }

    fn note(&self, live: &mut Live) {
        let bytes = Zeroizing::new(live.position.encode_key());
        match live.key.file.write_all_at(&bytes[..], 0) {
            Ok(()) => live.seen.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from),
            Err(error) => self.complain("Key file cannot be written, its chain goes on in memory", &error),
        }
        if live.mac.as_ref().is_none_or(|mac| !mac.is_at(&self.mac_path)) {
            match Open::at(&self.mac_path, true) {
                Ok(open) => live.mac = Some(open),
                Err(error) => {
                    live.mac = None;
                    self.complain("MAC file cannot be opened", &error);
                }
            }
        }
        if let Some(mac) = &live.mac
            && let Err(error) = mac.file.write_all_at(&encode_mac(&live.position.mac), 0)
        {
            self.complain("MAC file cannot be written", &error);
        }
        let now = Instant::now();
        if live.synced.is_none_or(|at| now.duration_since(at) >= SYNC_EVERY) {
            live.synced = Some(now);
            if let Err(error) = live.key.file.sync_data() {
                self.complain("Key file cannot be brought to the disk", &error);
            }
        }
    }

    fn complain(&self, text: &'static str, error: &dyn std::fmt::Display) {
        oplog::limited(
            "slog",
            oplog::Level::Error,
            text,
            &[
                ("key_file", &self.key_path.display()),
                ("mac_file", &self.mac_path.display()),
                ("error", error),
            ],
        );
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chain").field("key_path", &self.key_path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
