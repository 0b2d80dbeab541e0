//! What keeps the finder, the readers and the removers of a source running, and what they say.

use super::finder::find;
use super::hold::Hold;
use super::queue::{answer, receive};
use super::reader::Reader;
use super::remover::remove;
use super::{Afterwards, Board, Desk, Pull};
use oplog::Level;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinHandle;

/// What was said lately.
#[derive(Default)]
pub struct Said {
    minute: oplog::OnceAMinute,
    is_trouble: bool,
}

impl Said {
    /// Once a minute.
    pub fn say(&mut self, text: &'static str, why: &str, pull: &Pull, hold: Option<&Hold>) {
        self.is_trouble = true;
        if !self.minute.is_due(Instant::now()) {
            return;
        }
        let key = hold.map_or("", |hold| hold.object.found.key.as_str());
        let server = &pull.server;
        let fields: [oplog::Field<'_>; 4] =
            [("server", &server.url.authority), ("bucket", &server.bucket), ("key", &key), ("reason", &why)];
        let all = if hold.is_some() { &fields[..] } else { &[fields[0], fields[1], fields[3]] };
        oplog::limited(text, Level::Error, text, all);
    }

    /// Whether there was trouble since that was asked last.
    pub fn is_over(&mut self) -> bool {
        std::mem::take(&mut self.is_trouble)
    }
}

/// One task of a source, which is begun anew when it ends before its time.
pub struct Puller {
    task: Option<JoinHandle<()>>,
    work: Work,
    board: Arc<Board>,
    turn: u64,
    pull: Arc<Pull>,
}

enum Work {
    Find,
    /// Says to the queue what became of its messages.
    Answer,
    Remove,
    Read(Arc<Desk>),
}

impl Puller {
    fn new(work: Work, pull: &Arc<Pull>, (board, turn): (&Arc<Board>, u64)) -> Puller {
        Puller { task: None, work, board: Arc::clone(board), turn, pull: Arc::clone(pull) }
    }

    pub fn finder(pull: &Arc<Pull>, board: (&Arc<Board>, u64)) -> Puller {
        Puller::new(Work::Find, pull, board)
    }

    /// `None` where no queue tells of objects.
    pub fn answerer(pull: &Arc<Pull>, board: (&Arc<Board>, u64)) -> Option<Puller> {
        pull.queue.is_some().then(|| Puller::new(Work::Answer, pull, board))
    }

    /// `None` where nothing is to be deleted.
    pub fn remover(pull: &Arc<Pull>, board: (&Arc<Board>, u64)) -> Option<Puller> {
        (pull.afterwards != Afterwards::Keep).then(|| Puller::new(Work::Remove, pull, board))
    }

    pub fn reader(pull: &Arc<Pull>, board: (&Arc<Board>, u64), desk: &Arc<Desk>) -> Puller {
        Puller::new(Work::Read(Arc::clone(desk)), pull, board)
    }

    /// Begins it if it does not run: at first, after a panic, when there was no thread. To be called now and
    /// then.
    pub fn keep(&mut self) {
        let is_running = self.task.as_ref().is_some_and(|task| !task.is_finished());
        if is_running || !self.board.is_turn(self.turn) {
            return;
        }
        let runtime = match guest::handle() {
            Ok(runtime) => runtime,
            Err(error) => {
                let fields: [oplog::Field<'_>; 1] = [("reason", &error)];
                let text = "No thread can be started for S3, it is tried again";
                return oplog::limited("s3-thread", Level::Error, text, &fields);
            }
        };
        let (pull, board, turn) = (Arc::clone(&self.pull), Arc::clone(&self.board), self.turn);
        let queue = self.pull.queue.clone();
        self.task = Some(match (&self.work, queue) {
            (Work::Find, Some(queue)) => runtime.spawn(receive(pull, queue, board, turn)),
            (Work::Answer, Some(queue)) => runtime.spawn(answer(pull, queue, board, turn)),
            (Work::Find | Work::Answer, None) => runtime.spawn(find(pull, board, turn)),
            (Work::Remove, _) => runtime.spawn(remove(pull, board, turn)),
            (Work::Read(desk), _) => runtime.spawn(Reader::new(&pull, desk).run(board, turn)),
        });
    }
}
