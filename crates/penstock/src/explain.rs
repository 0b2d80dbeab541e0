//! `penstock explain`: what happens to single messages, step by step, on the running program or in a
//! configuration that is only tried.

mod backwards;
mod json;
pub mod rehearse;
mod suspicion;
mod text;
pub mod tree;
mod veiled;

use crate::printing::print;
use crate::subject::secrets::Veil;
use control::cli::ExplainArgs;
use control::client::{self, Status};
use engine::plan_map::PlanMap;
use engine::watch::inquiry::Story;
use std::process::ExitCode;
use std::time::Duration;
use stdio::CommandError;
use tree::Fates;

/// Given to the program beyond the time for which it waits for messages.
const ANSWER_MAX: Duration = Duration::from_secs(30);

pub fn explain(args: &ExplainArgs) -> ExitCode {
    let shown = match &args.config {
        Some(config) if args.file.is_some() => backwards::run(args, config),
        None if args.file.is_some() => backwards_on_running(args),
        Some(config) if args.line.is_some() || args.messages().is_some() => rehearse::run(args, config),
        Some(_) => {
            let needed = "--config needs a message: --line TEXT, --input FILE, - or --file PATH:LINE";
            Err(CommandError::usage(needed))
        }
        None => ask(args),
    };
    match shown {
        Ok(text) => print(&text),
        Err(error) => error.report(),
    }
}

/// By the configuration that runs, as its file has it.
fn backwards_on_running(args: &ExplainArgs) -> Result<String, CommandError> {
    let socket = args.running.socket()?;
    let config = client::configuration_file(&socket)?;
    let is_same = client::request(&socket, "CONFIG VERIFY", Some(ANSWER_MAX));
    if is_same.is_ok_and(|reply| reply.status != Status::Ok) {
        stdio::err!("{} is not what runs any more: this is how it would be with it", config.display());
    }
    backwards::run(args, &config)
}

/// Asks the running program.
fn ask(args: &ExplainArgs) -> Result<String, CommandError> {
    let request = args.request();
    let answer_max = request.patience + request.wait + ANSWER_MAX;
    client::ask(&args.running.socket()?, &request.line(), answer_max)
}

/// Messages explained, for people or as JSON, without what is under the veil.
pub fn render(stories: &[Story], map: &PlanMap, fates: &Fates, json: bool, veil: &Veil) -> String {
    let stories: Vec<Story> = stories.iter().map(|story| veiled::of(story, veil)).collect();
    let told = stories.iter().map(|story| tree::of(story, map, fates));
    if json { json::render(stories.iter().zip(told)) } else { text::render(stories.iter().zip(told)) }
}
