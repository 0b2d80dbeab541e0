//! `check`: everything about a configuration that can be known without opening a socket. Also syslog-ng's
//! `--syntax-only`.

mod lints;
mod paint;
pub mod preflight;
mod unit;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use control::cli::{CheckArgs, ParseOptions};
use engine::compile::{Existing, Plan};
use serde_json::{Value, json};
use stdio::CommandError;
use template::Identity;

use crate::configuration::Configuration;
use crate::run::privileges::{Told, told};
use crate::{EXIT_CONFIG, components, printing};

pub use lints::CODES as LINTS;
pub use preflight::CODES;
pub use preflight::addresses::first_free_port;

/// How findings in standard input are named.
const STANDARD_INPUT: &str = "<standard input>";
/// A configuration that is read from standard input.
const BYTES_MAX: u64 = 64 << 20;

/// `penstock check`.
pub fn check(args: &CheckArgs) -> ExitCode {
    let codes = components::code_lists();
    if let Some(unknown) = args.allow.iter().find(|code| diag::explain(&codes, code).is_none()) {
        let error = format!("--allow: there is no code {unknown}; all of them are in docs/errors.md");
        return CommandError::usage(error).report();
    }
    let files = match files(&args.configs) {
        Ok(files) => files,
        Err(error) => return error.report(),
    };
    let mut reports = Vec::new();
    let mut is_right = true;
    for file in &files {
        let mut configuration = match read(file) {
            Ok(configuration) => configuration,
            Err(error) => return error.report(),
        };
        let mut plan = None;
        if !args.syntax_only {
            plan = configuration.compile(&nobody(), &Existing::new());
            preflight::look(&mut configuration, plan.as_ref());
            lints::look(&mut configuration, plan.as_ref());
        }
        configuration.allow(&args.allow);
        is_right &= !configuration.has_errors();
        if args.unit {
            stdio::err_text!("{}", configuration.report());
            // Of what cannot be read nothing is known.
            if plan.is_some() {
                printing::print(&unit::drop_in(&configuration, plan.as_ref()));
            }
            continue;
        }
        if args.json {
            let mut report = configuration.report_json();
            if let (Some(fields), Some(plan)) = (report.as_object_mut(), &plan) {
                fields
                    .insert("capabilities".to_owned(), capabilities_json(&told(&configuration, Some(plan))));
            }
            reports.push(report);
            continue;
        }
        let name = (files.len() > 1).then(|| file.display().to_string());
        tell(args, &configuration, plan.as_ref(), name.as_deref());
    }
    if args.json && !args.unit {
        let report = match (reports.pop(), reports.is_empty()) {
            (Some(only), true) => only,
            (last, _) => several(&files, reports.into_iter().chain(last)),
        };
        printing::print(&oplog::hidden(&format!("{report:#}\n")));
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::from(EXIT_CONFIG) }
}

/// What lints have to say of a configuration that is right.
pub fn lint(configuration: &mut Configuration, plan: &Plan) {
    lints::look(configuration, Some(plan));
}

/// The files that are meant: of folders, what in them is named `*.conf`.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries =
            std::fs::read_dir(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let mut inside: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        inside.retain(|path| path.extension().is_some_and(|extension| extension == "conf") && path.is_file());
        inside.sort();
        files.extend(inside);
    }
    match files.is_empty() {
        true => Err("there is no file named *.conf".into()),
        false => Ok(files),
    }
}

fn read(file: &Path) -> Result<Configuration, CommandError> {
    if file.as_os_str() != "-" {
        return Ok(Configuration::look(file));
    }
    let mut text = String::new();
    let mut input = std::io::Read::take(std::io::stdin().lock(), BYTES_MAX);
    let read = std::io::Read::read_to_string(&mut input, &mut text);
    read.map_err(|error| format!("cannot read standard input: {error}"))?;
    Ok(Configuration::read_text(STANDARD_INPUT, &text))
}

fn several(files: &[PathBuf], reports: impl Iterator<Item = Value>) -> Value {
    let named = files.iter().zip(reports).map(|(file, mut report)| {
        if let Some(fields) = report.as_object_mut() {
            fields.insert("file".to_owned(), file.display().to_string().into());
        }
        report
    });
    json!({ "files": named.collect::<Vec<Value>>() })
}

/// Prints the findings for people, and what the configuration has where it is right. `name` is said where
/// there are several.
fn tell(args: &CheckArgs, configuration: &Configuration, plan: Option<&Plan>, name: Option<&str>) {
    let report = if args.verbose { configuration.report_verbose() } else { configuration.report() };
    stdio::err_text!("{}", paint::painted(&report, args.color));
    if args.explain {
        stdio::err_text!("{}", explained(configuration));
        if let Some(plan) = plan {
            printing::print(&engine::explain::explain(plan));
        }
    } else if let Some(plan) = plan.filter(|_| !configuration.has_errors()) {
        let name = name.map_or_else(String::new, |name| format!("{name}: "));
        printing::print(&format!("{name}ok: {}\n{}", counted(plan), capabilities(args, configuration, plan)));
    }
}

/// What each statement needs that not every process may do, a line each; nothing where there is nothing.
/// What it works without is in the verbose form.
fn capabilities(args: &CheckArgs, configuration: &Configuration, plan: &Plan) -> String {
    let line = |told: Told| {
        let needs = if told.optional { "does more with" } else { "needs" };
        format!("{} {needs} {}: {}\n", told.at, told.capabilities, told.why)
    };
    let all = told(configuration, Some(plan)).into_iter();
    all.filter(|told| args.verbose || !told.optional).map(line).collect()
}

fn capabilities_json(all: &[Told]) -> Value {
    let one = |told: &Told| {
        let names: Vec<&str> = told.capabilities.split(',').collect();
        json!({ "at": told.at, "capabilities": names, "why": told.why, "optional": told.optional })
    };
    all.iter().map(one).collect()
}

/// `3 sources, 4 destinations, 3 log paths`
fn counted(plan: &Plan) -> String {
    let groups: BTreeSet<&str> = plan.sources.iter().map(|source| source.group.as_str()).collect();
    let statement =
        |id: &'_ str| id.rsplit_once('#').map_or_else(|| id.to_owned(), |(name, _)| name.to_owned());
    let destinations: BTreeSet<String> = plan.destinations.iter().map(|d| statement(&d.id)).collect();
    let number = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let counts = [
        number(groups.len(), "source"),
        number(destinations.len(), "destination"),
        number(plan.paths.len(), "log path"),
    ];
    counts.join(", ")
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
    let mut configuration = Configuration::look(&options.config);
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
