//! Fuzzes FilterX: any text compiles or is refused, and what compiles runs on any message without a
//! panic. A zero byte parts the block from the message.
#![no_main]

#[path = "filterx/world.rs"]
mod world;

driver::fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |b| *b == 0);
    let text = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let message = parts.next().unwrap_or_default();
    if let Some(block) = world::compiled(&text) {
        world::run(&block, message);
    }
});
