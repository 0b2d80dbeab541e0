//! Coverage in the form of lcov: lines, and the two outcomes of filters and parsers as branches.

use super::Coverage;
use std::fmt::Write;

pub fn render(coverages: &[&Coverage]) -> String {
    let mut out = String::new();
    for coverage in coverages {
        for name in coverage.texts.keys() {
            let lines = coverage.lines(name);
            let _ = writeln!(out, "TN:\nSF:{name}");
            let (mut found, mut hit) = (0, 0);
            for (number, line) in &lines {
                for (block, (passed, stopped)) in line.outcomes.iter().enumerate() {
                    for (branch, count) in [passed, stopped].into_iter().enumerate() {
                        let taken = if line.entered == 0 { "-".to_owned() } else { count.to_string() };
                        let _ = writeln!(out, "BRDA:{number},{block},{branch},{taken}");
                        found += 1;
                        hit += usize::from(*count > 0);
                    }
                }
            }
            let _ = writeln!(out, "BRF:{found}\nBRH:{hit}");
            for (number, line) in &lines {
                let _ = writeln!(out, "DA:{number},{}", line.entered);
            }
            let reached = lines.values().filter(|line| line.entered > 0).count();
            let _ = writeln!(out, "LF:{}\nLH:{reached}\nend_of_record", lines.len());
        }
    }
    out
}
