//! What the program says of itself: version, components, metrics, licence.

use std::process::ExitCode;

use control::catalog::METRICS;
use control::cli::{CalledAs, VersionInfo, version_text};

use crate::printing::print;
use crate::{components, configuration};

/// Version of penstock.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// One line.
pub const LICENSE: &str = "penstock is free software under the Apache License, Version 2.0";

pub fn print_version(called_as: CalledAs) -> ExitCode {
    let names: Vec<&str> = components::names().into_iter().map(|(_, name)| name).collect();
    let include_path = configuration::include_path(&configuration::default_folder(called_as));
    let include_path: Vec<String> = include_path.iter().map(|p| p.display().to_string()).collect();
    print(&version_text(&VersionInfo {
        called_as,
        version: VERSION,
        config_version: &configuration::newest_version().to_string(),
        revision: option_env!("PENSTOCK_REVISION").unwrap_or_default(),
        date: &compile_date(),
        include_path: &include_path.join(":"),
        components: &names,
    }))
}

/// That of the sources, where a package was built: two builds of the same sources are the same bytes.
fn compile_date() -> String {
    let second = option_env!("SOURCE_DATE_EPOCH").and_then(|text| text.parse().ok());
    let date = second.and_then(|second| jiff::Timestamp::from_second(second).ok());
    date.map_or_else(|| "not recorded".to_owned(), |date| date.strftime("%b %e %Y %H:%M:%S").to_string())
}

/// `source network`, a line each.
pub fn print_components() -> ExitCode {
    let lines: Vec<String> = components::names()
        .into_iter()
        .map(|(context, name)| format!("{} {name}\n", context.as_str()))
        .collect();
    print(&lines.concat())
}

/// Names of the metrics and what they count, a line each.
pub fn print_metrics() -> ExitCode {
    let lines: Vec<String> = METRICS.iter().map(|m| format!("syslogng_{}: {}\n", m.name, m.help)).collect();
    print(&lines.concat())
}
