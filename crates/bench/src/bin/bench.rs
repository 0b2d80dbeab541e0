//! The `bench` command on its own, the same as `penstock bench`.

fn main() -> std::process::ExitCode {
    stdio::end(bench::cli::run(std::env::args_os().skip(1)))
}
