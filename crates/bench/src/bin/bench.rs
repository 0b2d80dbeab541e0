//! The `bench` command on its own: `penstock bench`, but for what only the whole program can.

fn main() -> std::process::ExitCode {
    let own = |_: &bench::cli::Own| Err("--config is for `penstock bench`".into());
    stdio::end(bench::cli::run(std::env::args_os().skip(1), own))
}
