//! `penstock diff`: what another configuration would do differently, told from the configurations, and tried
//! with messages.

pub mod compare;
mod json;
mod live;
mod sample;
mod text;

use crate::configuration::Configuration;
use crate::outline::Outline;
use crate::subject::secrets::Veil;
use crate::{EXIT_CONFIG, printing};
use compare::Difference;
use control::cli::DiffArgs;
use engine::compile::{Existing, Plan};
use sample::{Sampled, Side};
use std::path::Path;
use std::process::ExitCode;
use stdio::CommandError;
use template::Identity;

pub fn run(args: &DiffArgs) -> ExitCode {
    match difference(args) {
        Ok((text, is_same)) => {
            printing::print(&text);
            if is_same { ExitCode::SUCCESS } else { ExitCode::from(EXIT_CONFIG) }
        }
        // 1 is an answer: there are differences.
        Err(error) => error.as_usage().report(),
    }
}

/// What is printed, and whether the two mean the same.
fn difference(args: &DiffArgs) -> Result<(String, bool), CommandError> {
    let host = crate::run::identity::host_name().map_err(|error| error.to_string())?;
    let identity = Identity::new(&host);
    let (old, old_plan) = read(&args.old, &identity)?;
    let (new, new_plan) = read(&args.new, &identity)?;
    let differences = compare::compare(&Outline::of(&old), &Outline::of(&new));
    let is_tried = args.sample.is_some() || args.live.is_some();
    let sampled = is_tried.then(|| {
        let sides = [Side::new(&old_plan, &args.old), Side::new(&new_plan, &args.new)];
        sample::run(args, &sides, &differences)
    });
    let sampled = sampled.transpose()?;
    let is_same = differences.is_empty() && sampled.as_ref().is_none_or(Sampled::is_same);
    let text = match args.json {
        true => json::render(&differences, sampled.as_ref()),
        false => text::render(&differences, sampled.as_ref()),
    };
    Ok((veil(&[&old, &new]).over(&text), is_same))
}

fn read(path: &Path, identity: &Identity) -> Result<(Configuration, Plan), CommandError> {
    let mut configuration = Configuration::look(path);
    match configuration.compile(identity, &Existing::tried()) {
        Some(plan) => Ok((configuration, plan)),
        None => Err(configuration.report().into()),
    }
}

/// Whether two texts of a configuration write the same for these messages.
pub fn comes_out_same<'m>(
    texts: [&str; 2],
    source: Option<&str>,
    messages: impl Iterator<Item = &'m [u8]>,
) -> Result<bool, CommandError> {
    let identity = Identity::new("localhost");
    let mut plans = Vec::new();
    for text in texts {
        let mut configuration = Configuration::read_text("the copy", text);
        let plan = configuration.compile(&identity, &Existing::tried());
        plans.push(plan.ok_or_else(|| configuration.report())?);
    }
    let [old, new] = plans.as_slice() else { return Ok(false) };
    let sides = [Side::new(old, Path::new("the copy")), Side::new(new, Path::new("the copy"))];
    sample::is_same(&sides, source, messages)
}

/// The difference of two configurations for people, as the running program tells it before a reload.
pub fn told(old: &Configuration, new: &Configuration) -> String {
    let differences: Vec<Difference> = compare::compare(&Outline::of(old), &Outline::of(new));
    veil(&[old, new]).over(&text::render(&differences, None))
}

/// Whether two configurations mean the same.
pub fn is_none(old: &Configuration, new: &Configuration) -> bool {
    compare::compare(&Outline::of(old), &Outline::of(new)).is_empty()
}

/// Over the secrets of these configurations.
fn veil(configurations: &[&Configuration]) -> Veil {
    let texts = configurations.iter().flat_map(|one| [one.original(), &one.config().preprocessed]);
    Veil::of(&texts.collect::<Vec<&str>>())
}
