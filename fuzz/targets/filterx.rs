//! Fuzzes FilterX: any text compiles or is refused, and what compiles runs on any message without a
//! panic. Zero bytes part the block from the messages, and those from one another.
#![no_main]

#[path = "filterx/world.rs"]
mod world;

driver::fuzz_target!(|input: &[u8]| {
    let mut parts = input.split(|b| *b == 0);
    let text = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    if let Some(block) = world::compiled(&text) {
        parts.for_each(|message| _ = world::run(&block, message));
    }
});
