//! `loggen verify FILE...`: is everything there, once and in order?

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::verify::{Expected, Order, verify_files};

/// Check the output of a receiver for missing, doubled, reordered and foreign lines. Exit status 1 when there
/// are any.
#[derive(Debug, Parser)]
#[command(name = "loggen verify", disable_version_flag = true)]
struct Args {
    /// Output files, read in this order
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Connections that were used
    #[arg(long)]
    expect_connections: Option<usize>,
    /// Messages sent over all connections
    #[arg(long, conflicts_with = "per_connection")]
    expect_number: Option<u64>,
    /// Messages sent over each connection
    #[arg(long)]
    per_connection: Option<u64>,
    /// The files are pieces of one stream, oldest first: check the order from one to the next
    #[arg(long)]
    across_files: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Vec<OsString>) -> ExitCode {
    let args = match Args::try_parse_from(std::iter::once(OsString::from("loggen verify")).chain(args)) {
        Ok(args) => args,
        Err(error) => {
            stdio::note(error.print());
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let expected = Expected {
        connections: args.expect_connections,
        number: args.expect_number,
        per_connection: args.per_connection,
        order: if args.across_files { Order::AcrossFiles } else { Order::PerFile },
    };
    match verify_files(&args.files, &expected) {
        Ok(report) => {
            if args.json {
                stdio::out!("{:#}", report.to_json());
            } else {
                stdio::out!("{report}");
            }
            if report.ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => error.at("loggen verify").report(),
    }
}
