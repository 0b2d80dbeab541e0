//! The screen of top: one table, one row in full, and the keys.

use super::board::{Board, HEAD, Line, Sample, cells};
use super::cpu::Cpu;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line as TextLine;
use ratatui::widgets::{Paragraph, Row, Table, TableState, Wrap};
use ratatui::{DefaultTerminal, Frame};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stdio::CommandError;

/// Of one profile.
const PROFILE_SECONDS: u64 = 1;
/// The column that gets what the others leave.
const NAME: usize = 1;
/// How wide the columns of [`HEAD`] are, the name at least.
const WIDTHS: [u16; 9] = [11, 12, 8, 8, 5, 9, 8, 16, 12];
/// Columns that are left out on a narrow screen: share, oldest, state, out/s, waiting, dropped, in/s, part.
const LEFT_OUT: [usize; 8] = [4, 6, 8, 3, 5, 7, 2, 0];

pub struct Screen {
    board: Board,
    chosen: TableState,
    /// The chosen row alone, in full.
    is_single: bool,
    /// The keys make a filter.
    is_typing: bool,
    is_paused: bool,
    /// Where the processor time goes, in place of the table.
    cpu: Option<Cpu>,
    socket: PathBuf,
    /// The program did not answer.
    error: Option<CommandError>,
}

impl Screen {
    pub fn new(board: Board, socket: PathBuf) -> Screen {
        let chosen = TableState::default().with_selected(0);
        let (is_single, is_typing, is_paused) = (false, false, false);
        Screen { board, chosen, is_single, is_typing, is_paused, cpu: None, socket, error: None }
    }

    pub fn run(
        &mut self,
        terminal: &mut DefaultTerminal,
        interval: Duration,
        sample: &mut dyn FnMut() -> Result<Sample, CommandError>,
    ) -> io::Result<()> {
        let mut due = Instant::now() + interval;
        loop {
            terminal.draw(|frame| self.draw(frame))?;
            if event::poll(due.saturating_duration_since(Instant::now()))?
                && let Event::Key(key) = event::read()?
                && key.kind != KeyEventKind::Release
                && !self.key(key)
            {
                return Ok(());
            }
            if Instant::now() >= due {
                due = Instant::now() + interval;
                if !self.is_paused {
                    match sample() {
                        Ok(sample) => {
                            self.board.add(sample);
                            self.error = None;
                        }
                        Err(error) => self.error = Some(error),
                    }
                }
            }
        }
    }

    /// `false` when it is over.
    fn key(&mut self, key: KeyEvent) -> bool {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if self.is_typing && !is_control {
            match key.code {
                KeyCode::Enter => self.is_typing = false,
                KeyCode::Esc => {
                    self.board.only.clear();
                    self.is_typing = false;
                }
                KeyCode::Backspace => drop(self.board.only.pop()),
                KeyCode::Char(c) => self.board.only.push(c),
                _ => {}
            }
            return true;
        }
        match key.code {
            KeyCode::Char('q') => return false,
            KeyCode::Char('c') if is_control => return false,
            KeyCode::Down | KeyCode::Char('j') => self.chosen.select_next(),
            KeyCode::Up | KeyCode::Char('k') => self.chosen.select_previous(),
            KeyCode::Home => self.chosen.select_first(),
            KeyCode::End => self.chosen.select_last(),
            KeyCode::Enter => self.is_single = true,
            KeyCode::Esc => (self.is_single, self.cpu) = (false, None),
            KeyCode::Char('c') => {
                self.cpu = match self.cpu.take() {
                    None => Some(Cpu::open(self.socket.clone(), PROFILE_SECONDS)),
                    Some(_) => None,
                };
            }
            KeyCode::Char('s') => self.board.sort_next(),
            KeyCode::Tab => self.board.part_next(),
            KeyCode::Char('p') => self.is_paused = !self.is_paused,
            KeyCode::Char('/') => self.is_typing = true,
            _ => {}
        }
        true
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        let lines = self.board.lines();
        let [head, body, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)])
                .areas(frame.area());
        frame.render_widget(Paragraph::new(self.title(&lines)), head);
        frame
            .render_widget(Paragraph::new(self.hint()).style(Style::new().add_modifier(Modifier::DIM)), foot);
        if let Some(cpu) = &self.cpu {
            return frame.render_widget(Paragraph::new(cpu.text()), body);
        }
        let single = self.chosen.selected().map(|at| at.min(lines.len().saturating_sub(1)));
        match single.and_then(|at| lines.get(at)).filter(|_| self.is_single) {
            Some(line) => frame.render_widget(Paragraph::new(full(line)).wrap(Wrap { trim: false }), body),
            None => {
                let shown = shown(body.width);
                let widths = shown.iter().map(|column| match *column {
                    NAME => Constraint::Fill(1),
                    other => Constraint::Length(WIDTHS.get(other).copied().unwrap_or_default()),
                });
                let head = shown.iter().filter_map(|column| HEAD.get(*column).copied());
                let table = Table::new(lines.iter().map(|line| row(line, &shown)), widths)
                    .header(Row::new(head).style(Style::new().add_modifier(Modifier::BOLD)))
                    .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
                frame.render_stateful_widget(table, body, &mut self.chosen);
            }
        }
    }

    fn title(&self, lines: &[Line]) -> String {
        if let Some(error) = &self.error {
            return format!("no answer: {}", error.said().lines().next().unwrap_or_default());
        }
        if self.cpu.is_some() {
            return "penstock top: where the processor time goes, second by second".to_owned();
        }
        let part = self.board.part.map_or("all", |part| part.name());
        let paused = if self.is_paused { ", paused" } else { "" };
        let rows = stdio::counted(lines.len() as u64, "row", "rows");
        format!("penstock top: {rows} of {part}, sorted by {:?}{paused}", self.board.sort).to_lowercase()
    }

    fn hint(&self) -> String {
        match (self.is_typing, self.is_single || self.cpu.is_some()) {
            (true, _) => format!("filter: {}_", self.board.only),
            (false, true) => "Esc back  q end".to_owned(),
            (false, false) => "Enter more  c CPU  s sort  / filter  Tab part  p pause  q end".to_owned(),
        }
    }
}

/// The columns for which there is room, those left out first that say least.
fn shown(width: u16) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..WIDTHS.len()).collect();
    for column in LEFT_OUT {
        let gaps = shown.len().saturating_sub(1) as u16;
        let needed: u16 = shown.iter().filter_map(|column| WIDTHS.get(*column)).sum();
        if needed + gaps <= width {
            break;
        }
        shown.retain(|other| *other != column);
    }
    shown
}

fn row(line: &Line, shown: &[usize]) -> Row<'static> {
    let style = match (line.drop_rate > 0.0 || line.state == "drops", line.state.is_empty()) {
        (true, _) => Style::new().fg(Color::Red),
        (false, false) => Style::new().fg(Color::Yellow),
        (false, true) => Style::new(),
    };
    let cells = cells(line);
    Row::new(shown.iter().filter_map(|column| cells.get(*column).cloned()).collect::<Vec<String>>())
        .style(style)
}

/// Everything about a row.
fn full(line: &Line) -> Vec<TextLine<'static>> {
    let mut lines = vec![
        format!("{} {}", line.part.name(), line.name),
        line.detail.clone(),
        String::new(),
        format!("received   {}  ({:.0}/s)", line.received, line.rate_in),
        format!("delivered  {}  ({:.0}/s)", line.delivered, line.rate_out),
        format!("waiting    {}", line.waiting),
        format!("filtered   {}", line.filtered),
        format!("dropped    {}  ({:.0}/s)", line.dropped, line.drop_rate),
    ];
    lines.extend(line.reasons.iter().map(|(reason, count)| format!("  {reason}  {count}")));
    if !line.sentence.is_empty() {
        lines.extend([String::new(), line.sentence.clone()]);
    }
    let plain = |line: String| line.chars().map(|c| if c.is_control() { '?' } else { c }).collect::<String>();
    lines.into_iter().map(|line| TextLine::from(plain(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_screen_has_the_names() {
        let heads = |width: u16| -> Vec<&str> {
            shown(width).into_iter().filter_map(|column| HEAD.get(column).copied()).collect()
        };
        assert_eq!(heads(120).len(), HEAD.len());
        assert_eq!(heads(80), ["", "name", "in/s", "out/s", "waiting", "dropped"]);
        assert_eq!(heads(40), ["", "name", "in/s"]);
        assert_eq!(heads(10), ["name"]);
        assert_eq!(heads(0), ["name"]);
    }
}
