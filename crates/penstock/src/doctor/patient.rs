//! What is looked at: the configuration, and the program that runs, as far as it answers.

use crate::check::preflight;
use crate::configuration::Configuration;
use crate::run::identity::host_name;
use crate::subject::secrets::{self, Veil};
use control::Ledger;
use control::cli::{DoctorArgs, PENSTOCK_STATE_DIR};
use control::client;
use engine::compile::{Existing, Plan};
use std::path::PathBuf;
use std::time::Duration;
use stdio::CommandError;
use template::Identity;

/// Where no program says what it runs.
const CONFIG: &str = "/etc/penstock/penstock.conf";
/// Time given to the program to answer.
const ANSWER_MAX: Duration = Duration::from_secs(15);

pub struct Patient {
    pub configuration: Configuration,
    pub config: PathBuf,
    pub state_dir: PathBuf,
    pub plan: Option<Plan>,
    pub program: Option<RunningProgram>,
    /// Why nothing answers.
    pub silence: Option<CommandError>,
    pub silent_hours: u64,
    /// Words that are not to be shown.
    veil: Veil,
}

/// The program that runs, and what it has said.
pub struct RunningProgram {
    /// Its process; `None` where that is not known.
    pub process: Option<i32>,
    pub socket: PathBuf,
    pub ledger: Ledger,
}

impl Patient {
    pub fn of(args: &DoctorArgs) -> Patient {
        let (program, silence) = match args.running.socket().and_then(RunningProgram::of) {
            Ok(program) => (Some(program), None),
            Err(error) => (None, Some(error)),
        };
        let of_program = || client::configuration_file(&program.as_ref()?.socket).ok();
        let config = args.config.clone().or_else(of_program).unwrap_or_else(|| CONFIG.into());
        let mut configuration = Configuration::read(&config);
        let host = host_name().unwrap_or_else(|_| "localhost".to_owned());
        let plan = configuration.compile(&Identity::new(&host), &Existing::tried());
        preflight::look(&mut configuration, plan.as_ref());
        let texts = [configuration.original(), &configuration.config().preprocessed];
        let veil = Veil::of(&texts);
        Patient {
            configuration,
            config,
            state_dir: args.running.folder().unwrap_or_else(|_| PENSTOCK_STATE_DIR.into()),
            plan,
            program,
            silence,
            silent_hours: args.silent,
            veil,
        }
    }

    /// A text without the passwords and tokens of the configuration.
    pub fn scrubbed(&self, text: &str) -> String {
        self.veil.over(text)
    }

    /// Lines of a configuration without them, also where the running one had others.
    pub fn blotted(&self, text: &str) -> String {
        self.scrubbed(&secrets::blotted(text))
    }
}

impl RunningProgram {
    fn of(socket: PathBuf) -> Result<RunningProgram, CommandError> {
        let process = client::process(&socket)?;
        let mut program = RunningProgram { process, socket, ledger: Ledger::default() };
        program.ledger = Ledger::from_json(&program.ask("LEDGER JSON")?)?;
        Ok(program)
    }

    /// What it answers; the error is its refusal, or why there is no answer.
    pub fn ask(&self, line: &str) -> Result<String, CommandError> {
        client::ask(&self.socket, line, ANSWER_MAX)
    }

    /// A file of its process below /proc.
    pub fn proc(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.process?)).ok()
    }
}
