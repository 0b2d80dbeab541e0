//! What whole log paths cost a message, without sockets: `cargo run --release -p engine --example path_cost`
//! prints nanoseconds. Arguments are a row and the number of rounds, for `valgrind --tool=callgrind`: the
//! difference of two numbers of rounds is what messages cost.

mod rows;

use std::time::Instant;

fn main() {
    let only = std::env::args().nth(1);
    let rounds: usize = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(200);
    for (name, config) in rows::all() {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let mut path = rows::Path::new(&config, rows::messages(name));
        path.run();
        let mut best = f64::MAX;
        for _ in 0..rounds {
            let begin = Instant::now();
            path.run();
            best = best.min(begin.elapsed().as_nanos() as f64 / rows::MESSAGES as f64);
        }
        let bytes = path.output().len() / rows::MESSAGES;
        println!("{name:20} {best:8.1} ns a message, {bytes} bytes of output");
    }
}
