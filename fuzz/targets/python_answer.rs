//! What a Python process answers: nothing that comes may panic, and what is written for one can be read.
#![no_main]

use driver::fuzz_target;
use python::marshal::{self, Item, Reader};

fuzz_target!(|data: &[u8]| {
    let mut reader = Reader::new(data);
    let mut count = 0;
    while let Ok(item) = reader.item() {
        count += 1;
        assert!(count <= data.len(), "each takes a byte at least");
        let mut written = Vec::new();
        match item {
            Item::Int(value) => marshal::int(value, &mut written),
            Item::Bytes(bytes) => marshal::bytes(bytes, &mut written),
            Item::Bool(value) => marshal::boolean(value, &mut written),
            _ => continue,
        }
        assert_eq!(Reader::new(&written).item(), Ok(item));
    }
});
