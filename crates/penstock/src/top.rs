//! `penstock top`: what comes, goes, waits and is dropped, by source, path and destination, once a second in
//! the terminal.

mod board;
mod cpu;
mod screen;

use board::{Board, Sample};
use control::cli::TopArgs;
use control::client::ask;
use screen::Screen;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use stdio::CommandError;

/// Time given to the program to answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

pub fn run(args: &TopArgs) -> ExitCode {
    let interval = Duration::from_secs_f64(args.interval);
    if args.once {
        return stdio::finish(once(args, interval).map(|text| {
            crate::printing::print(&text);
            true
        }));
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return CommandError::usage("there is no terminal to draw on; --once prints a table").report();
    }
    stdio::finish(live(args, interval).map(|()| true))
}

fn sample(socket: &Path) -> Result<Sample, CommandError> {
    Sample::read(&ask(socket, "LEDGER JSON", ANSWER_MAX)?, Instant::now())
}

fn once(args: &TopArgs, interval: Duration) -> Result<String, CommandError> {
    let socket = args.running.socket()?;
    let mut board = Board::new(args.sort, &args.only);
    board.add(sample(&socket)?);
    std::thread::sleep(interval);
    board.add(sample(&socket)?);
    Ok(if args.json { board.json() } else { board.table() })
}

/// Draws until somebody ends it. The terminal is as before in any case.
fn live(args: &TopArgs, interval: Duration) -> Result<(), CommandError> {
    let socket = args.running.socket()?;
    let mut board = Board::new(args.sort, &args.only);
    board.add(sample(&socket)?);
    let mut terminal = ratatui::try_init().map_err(|error| format!("cannot draw: {error}"))?;
    let mut screen = Screen::new(board, socket.clone());
    let drawn = screen.run(&mut terminal, interval, &mut || sample(&socket));
    ratatui::restore();
    Ok(drawn.map_err(|error| format!("cannot draw: {error}"))?)
}
