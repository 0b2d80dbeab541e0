//! Fuzzes the grammar of FilterX: any text is read or refused, and what is said of it stands in it.
#![no_main]

use filterx::ast::{Expr, Extent};
use filterx::grammar::parse;

fn check(written: &Expr, len: u32) {
    inside(written.at, len);
    written.kind.each(&mut |inner| check(inner, len));
}

fn inside(at: Extent, len: u32) {
    assert!(at.start <= at.end && at.end <= len, "{at:?} of {len}");
}

driver::fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let len = text.len() as u32;
    let (statements, errors) = parse(&text);
    statements.iter().for_each(|statement| check(statement, len));
    errors.iter().for_each(|error| inside(error.at, len));
});
