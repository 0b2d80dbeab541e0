//! What a lookup costs with 10, 1,000 and 10,000 rules, a tenth of the messages matching: `cargo run
//! --release -p patterndb --example match_cost`.

use patterndb::rules::Scratch;
use patterndb::{Rules, load};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

const PROGRAMS: usize = 17;
const MESSAGES: usize = 4096;
const WORDS: [&str; 12] = [
    "connection",
    "session",
    "user",
    "device",
    "request",
    "process",
    "packet",
    "disk",
    "service",
    "mail",
    "rule",
    "timeout",
];
const VERBS: [&str; 10] =
    ["opened", "closed", "failed", "started", "refused", "accepted", "queued", "dropped", "moved", "renewed"];

fn database(rules: usize) -> String {
    let mut text = String::from("<patterndb version='6' pub_date='2026-01-01'>");
    for program in 0..PROGRAMS {
        let _ =
            write!(text, "<ruleset name='p{program}' id='{program}'><pattern>prog{program}</pattern><rules>");
        for rule in (0..rules).filter(|r| r % PROGRAMS == program) {
            let (word, verb) = (WORDS[rule % WORDS.len()], VERBS[rule / WORDS.len() % VERBS.len()]);
            let _ = write!(
                text,
                "<rule id='{rule}' class='system'><pattern>{word} {verb} by module {rule}: user @ESTRING:user: @from \
                 @IPvANY:ip@ port @NUMBER:port@ after @FLOAT:seconds@ s</pattern></rule>"
            );
        }
        text.push_str("</rules></ruleset>");
    }
    text.push_str("</patterndb>");
    text
}

fn message(n: usize, rules: usize) -> (String, String) {
    let rule = n * 7919 % rules;
    let (word, verb) = (WORDS[rule % WORDS.len()], VERBS[rule / WORDS.len() % VERBS.len()]);
    // One in ten matches; the others differ at the beginning, after the verb, or at the end of the pattern.
    let module = match n % 10 {
        0 => format!("{rule}"),
        1 => format!("{rule}x"),
        k if k < 5 => "none".to_owned(),
        _ => {
            return (
                format!("prog{}", rule % PROGRAMS),
                format!("{verb} {n} bytes of {word} were read in {n} ms; {}", "q".repeat(300)),
            );
        }
    };
    let text = format!(
        "{word} {verb} by module {module}: user u{n} from 10.0.{}.{} port {} after 1.{} s {}",
        n % 256,
        n / 256 % 256,
        n % 65536,
        n % 100,
        "padding ".repeat(37)
    );
    (format!("prog{}", rule % PROGRAMS), text)
}

fn main() {
    for count in [10, 1_000, 10_000] {
        let text = database(count);
        let begin = Instant::now();
        let mut loaded = load("generated", text.as_bytes());
        let Some(database) = loaded.database.take() else { panic!("{:?}", loaded.lines()) };
        let rules = Rules::compile(database, "", &mut loaded.diags);
        let read = begin.elapsed();
        let messages: Vec<(String, String)> = (0..MESSAGES).map(|n| message(n, count)).collect();
        let mut scratch = Scratch::default();
        let mut best = f64::MAX;
        let mut hits = 0;
        for _ in 0..60 {
            let begin = Instant::now();
            hits = 0;
            for (program, text) in &messages {
                hits += usize::from(
                    rules.find(program.as_bytes(), black_box(text.as_bytes()), &mut scratch).is_some(),
                );
            }
            best = best.min(begin.elapsed().as_secs_f64());
        }
        println!(
            "{count:>6} rules: {:>6.1} ns a lookup, {:>4.1} % match, read in {:.1} ms",
            best * 1e9 / MESSAGES as f64,
            100.0 * hits as f64 / MESSAGES as f64,
            read.as_secs_f64() * 1e3
        );
    }
}
