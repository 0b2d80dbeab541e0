//! Tests that cannot run here say so: on standard error, and in the file that the summary of the test run
//! counts.

use std::io::Write;

/// Notes that the current test was skipped. The test returns after it.
pub fn skip(why: &str) {
    let name = std::thread::current().name().unwrap_or("test").to_owned();
    eprintln!("skipped {name}: {why}");
    if let Some(path) = std::env::var_os("PENSTOCK_SKIPPED")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        // A summary that cannot be written must not fail the test.
        let _ = writeln!(file, "{name}: {why}");
    }
}
