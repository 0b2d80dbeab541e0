//! Messages as they wait on disk for a Python destination: nothing that is read back may panic, and what was
//! read packs to the same again.
#![no_main]

use driver::fuzz_target;
use record::{Batch, Context, Packer, Stamp, packed_message};
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let empty = || Batch::new(Vec::new(), Arc::new(Context::local("", "", "")), Stamp::default());
    let mut batch = empty();
    let _ = packed_message(data);
    let Some((at, number)) = batch.unpack(data) else { return };
    let (mut once, mut again) = (Vec::new(), Vec::new());
    Packer::default().pack(&batch, &batch.records[at], number, &mut once);
    let mut second = empty();
    let (at, number) = second.unpack(&once).expect("what was packed");
    Packer::default().pack(&second, &second.records[at], number, &mut again);
    let mut third = empty();
    assert!(third.unpack(&again).is_some());
});
