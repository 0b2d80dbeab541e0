//! The part of an outlet's queue that is in memory, as it is lent to its spool.

use crate::chunk::Chunk;
use crate::outlet::states::{Attendance, Flow};
use std::collections::VecDeque;

pub(in crate::outlet) struct Memory<'a> {
    pub chunks: &'a mut VecDeque<Chunk>,
    /// What is being written right now included.
    pub messages: &'a mut usize,
    /// Some of them are in the hands of whoever writes.
    pub attendance: Attendance,
    pub flow: Flow,
}
