//! Cases with an environment of their own, tested in a process of their own: so it reaches everything that
//! reads the environment, backticks and time zone, programs and classes, libraries too.

use super::environment::Environment;
use super::files::Read;
use super::read::CaseFile;
use super::suite::{self, Part};
use control::cli::TestArgs;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// What the process is asked, at its standard input.
#[derive(Serialize, Deserialize)]
struct Request {
    config: PathBuf,
    /// All files of cases, with their texts: they may change meanwhile.
    files: Vec<(PathBuf, String)>,
    /// File and case.
    jobs: Vec<(usize, usize)>,
}

/// Tests these cases in that environment.
pub fn test(
    environment: &Environment,
    config: &Path,
    files: &[Read],
    jobs: &[(usize, usize)],
    args: &TestArgs,
) -> Part {
    let files = files.iter().map(|read| (read.path.clone(), read.text.clone())).collect();
    let request = Request { config: config.to_path_buf(), files, jobs: jobs.to_vec() };
    ask(environment, &request, args).unwrap_or_else(|error| Part { error: Some(error), ..Part::default() })
}

fn ask(environment: &Environment, request: &Request, args: &TestArgs) -> Result<Part, String> {
    let cannot = |error: io::Error| format!("cannot run this program again: {error}");
    let mut command = Command::new(std::env::current_exe().map_err(cannot)?);
    command.args(["test", "--part"]);
    command.args(args.only.iter().flat_map(|part| ["--only", part]));
    command.args(args.jobs.map(|jobs| format!("--jobs={jobs}")));
    command.args(args.update.then_some("--update"));
    command.args(args.wants_coverage().then_some("--coverage"));
    environment.give(&mut command);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(cannot)?;
    let text = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // It reads all of it before it writes anything. Where it has ended, that is said below.
        let _ = stdin.write_all(&text);
    }
    let output = child.wait_with_output().map_err(cannot)?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("the process for these cases has ended without an answer, {}", output.status))
}

/// The other side: reads what is asked, and prints what came of it.
pub fn answer(args: &TestArgs) -> ExitCode {
    let part = match asked() {
        Ok((request, files)) => suite::part(&request.config, &files, &request.jobs, args),
        Err(error) => Part { error: Some(error), ..Part::default() },
    };
    match serde_json::to_string(&part) {
        Ok(text) => {
            stdio::out_text!("{text}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

fn asked() -> Result<(Request, Vec<Read>), String> {
    let request: Request =
        serde_json::from_reader(io::stdin().lock()).map_err(|error| format!("--part: {error}"))?;
    let read = |(path, text): &(PathBuf, String)| {
        let file = CaseFile::of_text(path, text)?;
        Ok(Read { path: path.clone(), file, text: text.clone() })
    };
    let files = request.files.iter().map(read).collect::<Result<_, String>>()?;
    Ok((request, files))
}
