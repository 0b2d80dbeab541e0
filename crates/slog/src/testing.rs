//! Key and MAC files for tests, and drafts.

use crate::draft::{ROOM, put};
use crate::files::{create_key, read_position};
use crate::{Chain, Key, Position, Scheme};
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    pub fn new() -> Files {
        let files = Files { folder: tempfile::tempdir().expect("a folder") };
        create_key(&files.key(), &first()).expect("written");
        files
    }

    pub fn key(&self) -> PathBuf {
        self.folder.path().join("host.key")
    }

    pub fn mac(&self) -> PathBuf {
        self.folder.path().join("mac.dat")
    }

    pub fn chain(&self) -> Arc<Chain> {
        Chain::open(&self.key(), &self.mac(), Scheme::Blocks).expect("a chain")
    }

    pub fn position(&self) -> Position {
        read_position(&self.key(), &self.mac(), Scheme::Blocks).expect("a position")
    }
}

pub(crate) fn first() -> Position {
    Position::of_key(Key([3; 32], Scheme::Blocks))
}

pub(crate) fn draft(chain: &Chain, text: &str, out: &mut Vec<u8>) {
    let mut raw = vec![0; ROOM];
    raw.extend_from_slice(text.as_bytes());
    put(chain, &mut raw, out);
}
