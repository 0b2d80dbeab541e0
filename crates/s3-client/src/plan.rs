//! What all objects of a destination have in common.

use crate::server::Server;
use std::sync::Arc;

/// How objects are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    None,
    Gzip(u32),
}

/// How large objects are uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// What is larger goes in parts of this size.
    pub bytes: usize,
    /// Parts that are on the way at the same time.
    pub at_once: usize,
}

pub struct Plan {
    pub server: Arc<Server>,
    /// Behind the name.
    pub suffix: String,
    pub packing: Packing,
    pub parts: Parts,
    /// Of each object: its type, storage class, rights, encryption. Names are lower case.
    pub headers: Vec<(String, String)>,
}
