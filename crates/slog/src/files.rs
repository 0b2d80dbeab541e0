//! Key files and MAC files of the tools: read whole, written whole.

use crate::key::random;
use crate::position::{KEY_FILE_BYTES, WHOLE_FILE_BYTES, decode_mac, encode_mac};
use crate::{Error, Mac, Position, Scheme};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Nobody but its owner reads a new file.
const MODE: u32 = 0o600;
/// Beside the MAC file.
const FIRST_MAC: &str = "mac0.dat";

/// Reads a key file. Its own copy of the MAC counts before the one of the MAC file, see [`crate::Chain`];
/// where there is none, the position has that of `mac`, which may only be missing while nothing was sealed;
/// then `wanted` says how it will be.
pub fn read_position(key: &Path, mac: &Path, wanted: Scheme) -> Result<Position, Error> {
    let file = regular::open(key).map_err(|e| Error::file(key, e))?;
    let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(WHOLE_FILE_BYTES));
    file.take(WHOLE_FILE_BYTES as u64).read_to_end(&mut bytes).map_err(|e| Error::file(key, e))?;
    position(key, &bytes, mac, wanted)
}

/// Where the aggregated MAC begins, of a chain with keys that are expanded.
pub fn first_mac_path(mac: &Path) -> PathBuf {
    mac.with_file_name(FIRST_MAC)
}

/// What the MAC of such a chain begins with: as the file says, which is made where it is missing.
pub fn begin_mac(mac: &Path) -> Result<Mac, Error> {
    let path = first_mac_path(mac);
    if let Ok(found) = read_mac(&path) {
        return Ok(found);
    }
    let mut made = Mac::default();
    random(&mut made).map_err(|error| Error::file(&path, error))?;
    write_mac(&path, &made)?;
    Ok(made)
}

pub(crate) fn position(key: &Path, bytes: &[u8], mac_path: &Path, wanted: Scheme) -> Result<Position, Error> {
    let (found, counter, own) =
        Position::decode_key(bytes).map_err(|what| Error::Key { path: key.to_owned(), what })?;
    let mac = match (own, counter) {
        (Some(own), _) => own,
        // Before the first entry, whatever is there means nothing.
        (None, 0) => Mac::default(),
        (None, counter) => match read_mac(mac_path) {
            Ok(mac) => mac,
            Err(Error::File { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::NoMac { path: mac_path.to_owned(), counter });
            }
            Err(error) => return Err(error),
        },
    };
    let scheme = match (own, counter) {
        (Some(_), _) => found.scheme(),
        (None, 0) => wanted,
        // Another program sealed with it, and left the file or did not.
        (None, _) if first_mac_path(mac_path).exists() => Scheme::Expanded,
        (None, _) => Scheme::Blocks,
    };
    Ok(Position { key: found.with_scheme(scheme), counter, mac })
}

/// A key file on its own, as `slogkey` and `slogverify` need it.
pub fn read_key(path: &Path) -> Result<Position, Error> {
    let file = regular::open(path).map_err(|e| Error::file(path, e))?;
    let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(WHOLE_FILE_BYTES));
    file.take(WHOLE_FILE_BYTES as u64).read_to_end(&mut bytes).map_err(|e| Error::file(path, e))?;
    let (key, counter, mac) =
        Position::decode_key(&bytes).map_err(|what| Error::Key { path: path.to_owned(), what })?;
    Ok(Position { key, counter, mac: mac.unwrap_or_default() })
}

pub fn read_mac(path: &Path) -> Result<Mac, Error> {
    let file = regular::open(path).map_err(|e| Error::file(path, e))?;
    let mut bytes = Vec::new();
    file.take(KEY_FILE_BYTES as u64).read_to_end(&mut bytes).map_err(|e| Error::file(path, e))?;
    decode_mac(&bytes).map_err(|what| Error::Mac { path: path.to_owned(), what })
}

/// Makes a key file where none is yet: an old one may be the only way to read a log.
pub fn create_key(path: &Path, position: &Position) -> Result<(), Error> {
    write(path, &key_file(position), OpenOptions::new().write(true).create_new(true))
}

/// The key file as syslog-ng has it.
pub fn write_key(path: &Path, position: &Position) -> Result<(), Error> {
    write(path, &key_file(position), OpenOptions::new().write(true).create(true).truncate(true))
}

pub fn write_mac(path: &Path, mac: &Mac) -> Result<(), Error> {
    write(path, &encode_mac(mac), OpenOptions::new().write(true).create(true).truncate(true))
}

fn key_file(position: &Position) -> zeroize::Zeroizing<Vec<u8>> {
    let whole = zeroize::Zeroizing::new(position.encode_key());
    zeroize::Zeroizing::new(whole.iter().take(KEY_FILE_BYTES).copied().collect())
}

fn write(path: &Path, bytes: &[u8], how: &mut OpenOptions) -> Result<(), Error> {
    let written = how.mode(MODE).open(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|e| Error::file(path, e))
}
