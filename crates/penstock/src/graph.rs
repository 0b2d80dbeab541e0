//! `penstock graph`: a configuration as a drawing, sources on the left, destinations on the right.

mod dot;
mod flows;
mod grouping;
mod json;
mod layout;
mod live;
mod mermaid;
mod model;
mod svg;

use crate::configuration::Configuration;
use crate::outline::{Outline, Path};
use crate::printing::print;
use control::cli::GraphArgs;
use diag::Span;
use engine::compile::{Existing, Plan};
use model::Graph;
use std::collections::BTreeSet;
use std::process::ExitCode;
use stdio::CommandError;
use template::Identity;

pub use live::grouped;

/// Findings about what no message reaches.
const NEVER: [&str; 2] = ["E0118", "L0103"];

pub fn run(args: &GraphArgs) -> ExitCode {
    match drawn(args) {
        Ok(text) => print(&oplog::hidden(&text)),
        Err(error) => error.report(),
    }
}

fn drawn(args: &GraphArgs) -> Result<String, CommandError> {
    let mut configuration = Configuration::look(&args.config);
    let plan: Option<Plan> = configuration.compile(&Identity::new("localhost"), &Existing::new());
    let Some(plan) = plan else { return Err(configuration.report().into()) };
    crate::check::lint(&mut configuration, &plan);
    let mut outline = Outline::of(&configuration);
    if !args.only.is_empty() {
        let unknown = args
            .only
            .iter()
            .find(|name| !outline.sources.contains_key(*name) && !outline.destinations.contains_key(*name));
        if let Some(unknown) = unknown {
            return Err(format!("no log path has a source or destination `{unknown}`").into());
        }
        outline.paths.retain(|path| args.only.iter().any(|name| has(path, name)));
    }
    let dead = places_of_the_dead(&configuration);
    let mut graph = match args.all {
        true => Graph::of(&outline, &dead),
        false => grouping::grouped(&outline, &dead),
    };
    if args.live {
        live::add_rates(&mut graph, &args.running.socket()?)?;
    }
    Ok(if args.json {
        json::render(&graph)
    } else if args.dot {
        dot::render(&graph)
    } else if args.mermaid {
        mermaid::render(&graph)
    } else {
        svg::render(&graph, &layout::of(&graph))
    })
}

fn has(path: &Path, name: &str) -> bool {
    let mut is_there = path.sources.contains(name);
    path.node.each(&mut |node| is_there |= node.kind == "destination" && node.name == name);
    is_there
}

/// What no message comes to.
fn places_of_the_dead(configuration: &Configuration) -> BTreeSet<Span> {
    let findings = configuration.findings().iter().filter(|finding| NEVER.contains(&finding.code));
    findings.filter_map(|finding| finding.span).collect()
}
