//! `check`: everything about a configuration that can be known without opening a socket. Also syslog-ng's
//! `--syntax-only`.

mod preflight;
mod unit;

use std::collections::BTreeSet;
use std::process::ExitCode;

use control::cli::{CheckArgs, ParseOptions};
use engine::compile::Existing;
use template::Identity;

use crate::configuration::Configuration;
use crate::{EXIT_CONFIG, components, printing};

pub use preflight::CODES;
pub use preflight::addresses::first_free_port;

/// `penstock check`.
pub fn check(args: &CheckArgs) -> ExitCode {
    let mut configuration = Configuration::read(&args.config);
    let mut plan = None;
    if !args.syntax_only {
        plan = configuration.compile(&nobody(), &Existing::new());
        preflight::look(&mut configuration, plan.as_ref());
    }
    if args.unit {
        stdio::err_text!("{}", configuration.report());
        printing::print(&unit::drop_in(&configuration, plan.as_ref()));
    } else if args.json {
        let report = diag::render_json(configuration.findings(), &configuration.parsed.sources);
        printing::print(&oplog::hidden(&format!("{report:#}\n")));
    } else {
        let report = if args.verbose { configuration.report_verbose() } else { configuration.report() };
        stdio::err_text!("{report}");
        if args.explain {
            stdio::err_text!("{}", explained(&configuration));
            if let Some(plan) = &plan {
                printing::print(&engine::explain::explain(plan));
            }
        }
    }
    verdict(&configuration)
}

/// What each code means, once each, at length.
fn explained(configuration: &Configuration) -> String {
    let codes: BTreeSet<&str> = configuration.findings().iter().map(|d| d.code).collect();
    let lists = components::code_lists();
    let explained = codes.into_iter().filter_map(|code| {
        let (title, text) = diag::explain(&lists, code)?;
        Some(format!("\n{code}: {title}\n  {text}\n"))
    });
    explained.collect()
}

/// `syslog-ng --syntax-only`, `--preprocess-into`, `--config-id`.
pub fn parse_only(options: &ParseOptions) -> ExitCode {
    let mut configuration = Configuration::read(&options.config);
    // Unknown drivers and options are syntax errors to syslog-ng; what is not found by name is not looked
    // for.
    configuration.compile_without_references(&nobody());
    stdio::err_text!("{}", configuration.report());
    if let Some(path) = &options.preprocess_into {
        let text = format!("{}\n", configuration.config().preprocessed.trim_end());
        if path.as_os_str() == "-" {
            printing::print(&text);
        } else if let Err(error) = std::fs::write(path, text) {
            stdio::err!("cannot write {}: {error}", path.display());
            return ExitCode::from(EXIT_CONFIG);
        }
    }
    if options.print_id {
        printing::print(&format!("{}\n", configuration.id()));
    }
    verdict(&configuration)
}

fn verdict(configuration: &Configuration) -> ExitCode {
    if configuration.has_errors() { ExitCode::from(EXIT_CONFIG) } else { ExitCode::SUCCESS }
}

/// Nothing is run, so nothing is said in anybody's name.
fn nobody() -> Identity {
    Identity::new("localhost")
}
