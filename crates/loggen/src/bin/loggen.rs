//! The `loggen` command on its own, the same as `penstock loggen`.

fn main() -> std::process::ExitCode {
    stdio::end(loggen::cli::run(std::env::args_os().skip(1)))
}
