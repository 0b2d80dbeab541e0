//! `run`: from the command line to a running program, its signals, and its end.

mod activation;
mod background;
mod caretaker;
pub mod confinement;
pub mod identity;
pub mod last_run;
mod limits;
mod log_statistics;
pub mod notify;
mod pid_file;
pub mod privileges;
pub mod watchdog;

use diag::Fault;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use control::cli::{ProcessMode, RunOptions, STATE_FILE_NAME};
use control::request::Reload;
use control::{Server, ServerOptions, Subject};
use delivery::writer::Numbers;
use engine::compile::Existing;
use engine::{Engine, EngineOptions, Rest};
use oplog::Verbosity;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::configuration::Configuration;
use crate::console::Door;
use crate::keep_input;
use crate::lookout;
use crate::program::{Daemon, joined};
use crate::subject::Served;
use crate::take_over::taker::{Taken, Taker, adopt};
use crate::version::VERSION;
use crate::{EXIT_CONFIG, EXIT_INIT};
use background::Starter;
use pid_file::PidFile;

/// What destinations do with their servers when they are closed may take so long.
#[cfg(feature = "hdfs")]
const LEAVES_MAX: Duration = Duration::from_secs(12);
/// How long the end waits for destinations that still take messages.
pub const DRAIN_MAX: Duration = Duration::from_secs(30);

/// Why the program does not start; what is wrong has been said.
pub struct Failed(u8);

impl From<Failed> for ExitCode {
    fn from(failed: Failed) -> ExitCode {
        ExitCode::from(failed.0)
    }
}

/// Says why the program cannot start.
fn failed(code: u8, text: &str) -> Failed {
    stdio::err!("{text}");
    Failed(code)
}

/// Runs until told to stop.
pub fn run(options: RunOptions) -> ExitCode {
    match start_and_serve(absolute(options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => failed.into(),
    }
}

/// Opens everything, then ends.
pub fn check_startup(options: RunOptions) -> ExitCode {
    match start(&absolute(options)) {
        Ok(started) => {
            if let Some(engine) = started.program.end() {
                engine.stop(Duration::ZERO, Rest::Kept);
            }
            ExitCode::SUCCESS
        }
        Err(failed) => failed.into(),
    }
}

/// The working folder may change.
fn absolute(options: RunOptions) -> RunOptions {
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    // Inside another root, the paths are those of that root.
    if options.chroot.is_some() {
        return options;
    }
    RunOptions {
        config: absolute(options.config),
        state_dir: absolute(options.state_dir),
        // Other commands find it by this path.
        control: absolute(options.control),
        pid_file: options.pid_file.map(absolute),
        ..options
    }
}

fn start_and_serve(options: RunOptions) -> Result<(), Failed> {
    let given = activation::sockets();
    if !given.is_empty() {
        transport::inherited::offer(given);
    }
    let mut starter = match options.process_mode {
        ProcessMode::Foreground => Starter::none(),
        ProcessMode::Background => background::detach(false)?,
        ProcessMode::SafeBackground => background::detach(true)?,
    };
    if let Some(Err(error)) = options.console.as_deref().map(web_console::address) {
        return Err(failed(EXIT_CONFIG, &format!("--console: {error}")));
    }
    let opened = start(&options).and_then(|started| match answer(&options, &started) {
        Ok(server) => Ok((started, server)),
        Err(error) => {
            if let Some(taker) = &started.taker {
                taker.failed(error.said());
            }
            if let Some(engine) = started.program.end() {
                engine.stop(Duration::ZERO, Rest::Kept);
            }
            Err(failed(EXIT_INIT, error.said()))
        }
    });
    let (mut started, mut server) = opened.inspect_err(|failed| starter.failed(failed.0))?;
    if let Some(taker) = started.taker.take() {
        taker.listen(&started.program);
    }
    started.pid_file.iter_mut().for_each(PidFile::write);
    let pid_file = started.pid_file.take();
    starter.succeeded(options.stderr);
    notify::ready();
    if let Some(micros) = started.watchdog {
        watchdog::start(&started.program, micros);
    }
    caretaker::start(&started.program, options.state_dir.clone());
    lookout::start(&started.program);
    keep_input::start(&started.program, &options.state_dir);
    last_run::begin(&options.state_dir);
    log_statistics::start(&started.program);
    let program = Arc::clone(&started.program);
    serve(started);
    if program.is_given() {
        server.give_up_path();
    }
    program.door.close();
    // The counters can be asked for until the end.
    drop(server);
    drop(pid_file);
    Ok(())
}

/// Opens the control socket; in a take-over, what runs so far ends.
fn answer(options: &RunOptions, started: &Started) -> Result<Server, Fault> {
    let served: Arc<dyn Subject> = Arc::new(Served::new(Arc::clone(&started.program)));
    control::running::set(&served);
    let replaces = started.taker.is_some();
    let options = ServerOptions { replaces, ..ServerOptions::new(&options.control) };
    let server = Server::start(options, served).map_err(|error| Fault::local(error.to_string()))?;
    let console = started.program.console();
    match &started.taker {
        None => started.program.door.begin(&started.program, console.as_ref())?,
        Some(_) => Door::begin_later(&started.program, console.as_ref()),
    }
    if let Some(taker) = &started.taker {
        taker.ready(&started.disinherited)?;
        transport::inherited::own();
        server.replace().map_err(|error| Fault::local(error.to_string()))?;
    }
    Ok(server)
}

/// A program with everything open.
struct Started {
    /// The program whose place it takes, which still counts on going on.
    taker: Option<Taker>,
    /// Microseconds within which the service manager wants a sign of life.
    watchdog: Option<u64>,
    /// Destinations of that one which this one does not have.
    disinherited: Vec<String>,
    pid_file: Option<PidFile>,
    program: Arc<Daemon>,
    signals: Signals,
}

fn start(options: &RunOptions) -> Result<Started, Failed> {
    let verbosity = if options.startup_debug { Verbosity::Debug } else { options.verbosity };
    oplog::set_verbosity(verbosity);
    oplog::set_stderr(options.stderr);
    lookout::keep_for_batches();
    // Before threads: a signal that comes while everything is opened must not kill.
    let signals = Signals::new([SIGHUP, SIGTERM, SIGINT, SIGUSR1, SIGXFSZ])
        .map_err(|error| failed(EXIT_INIT, &format!("cannot handle signals: {error}")))?;
    limits::raise(options.fd_limit, options.enable_core);
    #[cfg(feature = "python")]
    python::defer();
    let entered = privileges::enter(options).map_err(|fault| failed(EXIT_INIT, fault.said()))?;
    let mut configuration = Configuration::read(&options.config);
    // Before the state: a wrong configuration must leave no trace.
    if configuration.has_errors() {
        configuration.compile_without_references(&template::Identity::new("localhost"));
        return Err(failed(EXIT_CONFIG, configuration.report().trim_end()));
    }
    let identity = identity::of(&options.state_dir).map_err(|error| {
        failed(EXIT_INIT, &format!("cannot use {}: {error}", options.state_dir.display()))
    })?;
    engine::source::begin_numbers(identity.run_id);
    let plan = configuration.compile(&identity, &Existing::new());
    let report = configuration.report();
    let Some(plan) = plan else {
        return Err(failed(EXIT_CONFIG, report.trim_end()));
    };
    let pid_file = options.pid_file.as_deref().and_then(PidFile::open);
    // Before there are threads, each of which would have capabilities of its own.
    privileges::settle(entered, options, &configuration, &plan)
        .map_err(|fault| failed(EXIT_INIT, fault.said()))?;
    confinement::enter(options, &configuration, &plan).map_err(|fault| failed(EXIT_INIT, fault.said()))?;
    let engine_options = EngineOptions {
        workers: options.worker_threads.unwrap_or_else(limits::workers),
        memory_max: limits::memory_max(),
        sharing: true,
        identity: plan.identity.clone(),
    };
    let mut engine = Engine::new(&engine_options)
        .map_err(|error| failed(EXIT_INIT, &format!("cannot start the workers: {error}")))?;
    if !report.is_empty() {
        stdio::err_text!("{report}");
        // Where nobody may look at standard error later.
        if !options.stderr {
            configuration.log_findings();
        }
    }
    let state = options.state_dir.join(STATE_FILE_NAME);
    let (taker, taken) = take_over(options, &state)?;
    transport::inherited::offer(taken.sockets);
    engine.inherit(taken.queues);
    let store = state::Store::open_or_begin(&state).map_err(|error| {
        let text = format!("cannot use {}: {error}", state.display());
        if let Some(taker) = &taker {
            taker.failed(&text);
        }
        failed(EXIT_INIT, &text)
    })?;
    engine.shared().set_state(store);
    engine.shared().durable.set_state_dir(options.state_dir.clone());
    oplog::notice("syslog-ng starting up", &[("version", &VERSION)]);
    let globals = Arc::clone(&plan.globals);
    Daemon::apply_metrics(&globals);
    if let Err(faults) = engine.apply(plan) {
        if let Some(taker) = &taker {
            taker.failed(&joined(&faults));
        }
        for fault in faults {
            oplog::error("Error initializing configuration", &[("error", &fault)]);
            if !options.stderr {
                stdio::err!("{fault}");
            }
        }
        engine.stop(Duration::ZERO, Rest::Kept);
        return Err(Failed(EXIT_INIT));
    }
    oplog::set_verbosity(options.verbosity);
    let unused = transport::inherited::withdraw();
    if !unused.is_empty() {
        let names = unused.join(", ");
        oplog::notice("Sockets that were open before are not in the configuration", &[("sockets", &names)]);
    }
    let disinherited = engine.disinherited();
    let program = Daemon::new(options, identity, engine, configuration, &globals);
    for connection in taken.connections {
        adopt(&program, connection);
    }
    let inherited = taker.as_ref().and_then(|taker| taker.watchdog());
    let watchdog = watchdog::micros().or(inherited);
    Ok(Started { taker, watchdog, disinherited, pid_file, program: Arc::new(program), signals })
}

/// Gets what the program before this one has, when its place is to be taken. It stands still from here on,
/// until it hears that this one works, or has gone.
fn take_over(options: &RunOptions, state: &Path) -> Result<(Option<Taker>, Taken), Failed> {
    let Some(linger) = options.take_over else { return Ok((None, Taken::default())) };
    let asked = Taker::ask(&options.control, state, linger);
    let Some(taker) = asked.map_err(|fault| failed(EXIT_INIT, fault.said()))? else {
        oplog::notice("There is no running program to take over from", &[]);
        return Ok((None, Taken::default()));
    };
    let taken = taker.stop().map_err(|fault| failed(EXIT_INIT, fault.said()))?;
    Ok((Some(taker), taken))
}

/// Does what signals ask for, until one asks for the end.
fn serve(started: Started) {
    let Started { program, mut signals, .. } = started;
    let reloads = reloader(Arc::clone(&program));
    for signal in signals.forever() {
        match signal {
            // One reload that has not begun yet covers all that are asked for meanwhile.
            SIGHUP => drop(reloads.try_send(())),
            SIGUSR1 => program.reopen(),
            // The write that would have made a file larger than is allowed says so itself.
            SIGXFSZ => {}
            _ => break,
        }
    }
    if program.is_given() {
        oplog::notice("Everything is handed over, ending", &[("version", &VERSION)]);
        return;
    }
    notify::stopping();
    // Waits for a reload that is under way.
    let engine = program.end();
    oplog::tick_last();
    oplog::notice("syslog-ng shutting down", &[("version", &VERSION)]);
    if let Some(engine) = engine {
        let left = engine.stop(DRAIN_MAX, Rest::Kept);
        #[cfg(feature = "python")]
        python::end();
        #[cfg(feature = "hdfs")]
        drivers::wait_for_leaves(LEAVES_MAX);
        if let Some(state_dir) = program.shared.durable.state_dir() {
            last_run::note(state_dir, &left);
        }
    }
    // The connections that the stop has closed.
    oplog::tick_last();
    Numbers::save_all();
}

/// A thread that reloads, so that other signals are heard meanwhile.
fn reloader(program: Arc<Daemon>) -> SyncSender<()> {
    let (sender, receiver): (SyncSender<()>, Receiver<()>) = sync_channel(1);
    let started = std::thread::Builder::new().name("reload".into()).spawn(move || {
        for () in receiver {
            let reload = || drop(program.reload(&Reload::default()));
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(reload)).is_err() {
                oplog::critical("Internal error while reloading, contained", &[]);
            }
        }
    });
    if let Err(error) = started {
        oplog::error("Cannot start the thread that reloads, SIGHUP has no effect", &[("error", &error)]);
    }
    sender
}
