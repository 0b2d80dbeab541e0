//! What is looked at: the configuration, and the program that runs, as far as it answers.

use crate::check::preflight;
use crate::configuration::Configuration;
use crate::run::identity::host_name;
use crate::subject::secrets::{self, Veil};
use control::Ledger;
use control::cli::{DoctorArgs, PENSTOCK_STATE_DIR};
use control::client::{self, ClientError};
use engine::compile::{Existing, Plan};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
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
    pub silence: Option<Silence>,
    /// It is not known which configuration runs: one was guessed.
    pub is_guessed: bool,
    /// The file that the program runs, where it is another one than that which is looked at.
    pub other_file: Option<PathBuf>,
    pub silent_hours: u64,
    /// Words that are not to be shown.
    veil: Veil,
}

/// No program answers.
pub enum Silence {
    /// As far as can be told, none is there.
    Absent(CommandError),
    /// One is there, and may not be asked, or is stuck.
    Mute(ClientError),
}

impl From<ClientError> for Silence {
    fn from(error: ClientError) -> Silence {
        match &error {
            ClientError::Connect(_, why) if why.kind() != ErrorKind::PermissionDenied => {
                Silence::Absent(error.into())
            }
            _ => Silence::Mute(error),
        }
    }
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
        let socket = args.running.socket().map_err(Silence::Absent);
        let (program, silence) = match socket.and_then(RunningProgram::of) {
            Ok(program) => (Some(program), None),
            Err(silence) => (None, Some(silence)),
        };
        let runs = program.as_ref().and_then(|program| client::configuration_file(&program.socket).ok());
        let known = args.config.as_ref().or(runs.as_ref());
        let is_guessed = known.is_none();
        let config = known.map_or_else(|| CONFIG.into(), PathBuf::clone);
        let other_file = runs.filter(|runs| !is_same_file(runs, &config));
        let mut configuration = Configuration::look(&config);
        let host = host_name().unwrap_or_else(|_| "localhost".to_owned());
        let plan = configuration.compile(&Identity::new(&host), &Existing::tried());
        preflight::look(&mut configuration, plan.as_ref());
        let veil = configuration.veil();
        Patient {
            configuration,
            config,
            state_dir: args.running.folder().unwrap_or_else(|_| PENSTOCK_STATE_DIR.into()),
            plan,
            program,
            silence,
            is_guessed,
            other_file,
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

fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    real(one) == real(other)
}

impl RunningProgram {
    fn of(socket: PathBuf) -> Result<RunningProgram, Silence> {
        let process = client::process(&socket)?;
        let reply = client::request(&socket, "LEDGER JSON", Some(ANSWER_MAX))?;
        let ledger = Ledger::from_json(&reply.text).map_err(|error| Silence::Absent(error.into()))?;
        Ok(RunningProgram { process, socket, ledger })
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
