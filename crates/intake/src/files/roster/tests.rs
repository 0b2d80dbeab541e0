//! A model of what happens to files: written, renamed, truncated, made anew, while the source runs and while
//! it does not. Every line that was written comes out once, but for those that were gone before anybody could
//! read them.

use super::*;
use crate::files::followed::Drained;
use crate::files::tail::{self, Tail, TailOptions};
use crate::files::wanted::Matching;
use engine::{Mark, Wake};
use pattern::{Cache, Kind, Pattern, PatternOptions};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;
use wire::FramerOptions;

/// Lines of one file, by the file's number.
type Contents = BTreeMap<usize, Vec<usize>>;

struct Reader {
    tail: Tail,
    followed: Arc<Followed>,
}

#[derive(Default)]
struct Readers(Vec<Reader>);

impl Opener for Readers {
    fn open(&mut self, file: File, _path: &Arc<Path>, begin: Begin, followed: &Arc<Followed>) {
        let framing = FramerOptions::default();
        let options = Arc::new(TailOptions { framing, multi_line: None, encoding: None });
        let tail = Tail::new(file, begin, &options).expect("a tail");
        followed.tracker.mark(tail.position()).done();
        self.0.push(Reader { tail, followed: Arc::clone(followed) });
    }
}

/// A running source.
struct Source {
    roster: Roster,
    readers: Readers,
    store: Arc<Store>,
    /// Read and not acknowledged, in order.
    pending: Vec<(Mark, Vec<usize>)>,
}

struct Model {
    dir: tempfile::TempDir,
    matching: bool,
    /// Positions wait for the watcher, as with thousands of files.
    defers: bool,
    source: Option<Source>,
    store: Store,
    next_line: usize,
    next_name: usize,
    /// What is in each file; the last one is at the path.
    contents: Contents,
    /// Lines nobody can read any more, and nobody had.
    lost: HashSet<usize>,
    output: Vec<usize>,
    /// Something happened since the source was killed that makes a further change of names untraceable.
    touched: bool,
    /// Truncated since the last reading.
    truncated: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Write(usize),
    Rename,
    Truncate,
    Recreate,
    Look,
    Read,
    Acknowledge,
    Kill,
    Start,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (1usize..60).prop_map(Step::Write),
        2 => Just(Step::Rename),
        1 => Just(Step::Truncate),
        1 => Just(Step::Recreate),
        3 => Just(Step::Look),
        4 => Just(Step::Read),
        3 => Just(Step::Acknowledge),
        1 => Just(Step::Kill),
        2 => Just(Step::Start),
    ];
    prop::collection::vec(step, 1..40)
}

impl Model {
    fn new(matching: bool, defers: bool) -> Model {
        let mut model = Model {
            dir: tempfile::tempdir().expect("folder"),
            matching,
            defers,
            source: None,
            store: Store::in_memory(),
            next_line: 0,
            next_name: 1,
            contents: BTreeMap::from([(0, Vec::new())]),
            lost: HashSet::new(),
            output: Vec::new(),
            touched: false,
            truncated: false,
        };
        std::fs::write(model.path(), "").expect("write");
        model.start();
        model
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    fn wanted(&self) -> Wanted {
        if !self.matching {
            return Wanted::One(self.path());
        }
        let options = PatternOptions { kind: Kind::Glob, ..PatternOptions::default() };
        Wanted::Matching(Arc::new(Matching {
            base: self.dir.path().to_owned(),
            recursive: false,
            name: Pattern::compile("log*", &options).expect("a glob"),
            exclude: None,
            cache: parking_lot::Mutex::new(Cache::new()),
        }))
    }

    fn start(&mut self) {
        if self.source.is_some() {
            return;
        }
        let store = Arc::new(copy(&self.store));
        let options = RosterOptions {
            wanted: self.wanted(),
            files_max: 100,
            read_old: true,
            key: format!("test({})", self.dir.path().display()),
        };
        let mut source = Source {
            roster: Roster::new(options, &store),
            readers: Readers::default(),
            store,
            pending: Vec::new(),
        };
        if self.defers {
            source.roster.saves().count(usize::MAX);
        }
        let mut listed = Vec::new();
        source.roster.wanted().list(self.dir.path(), &mut |found| listed.push(found), &mut |_| {});
        source.roster.start(&listed, &mut source.readers);
        self.source = Some(source);
        self.touched = false;
    }

    /// What was read and not acknowledged is read again, unless it is gone.
    fn kill(&mut self) {
        // Of a file that came unseen nobody can know.
        self.look();
        let Some(source) = self.source.take() else { return };
        self.touched = self.truncated;
        self.store = copy(&source.store);
        for (mark, lines) in source.pending {
            std::mem::forget(mark);
            let gone = lines.iter().filter(|line| !self.contents.values().flatten().any(|l| l == *line));
            self.lost.extend(gone);
        }
    }

    /// Without reading.
    fn look(&mut self) {
        let Some(source) = &mut self.source else { return };
        let paths = source.roster.paths();
        let mut listed = Vec::new();
        source.roster.wanted().list(self.dir.path(), &mut |found| listed.push(found), &mut |_| {});
        source.roster.arrive(&listed, &mut source.readers);
        paths.iter().for_each(|path| source.roster.examine(path, &mut source.readers));
        source.roster.saves().store();
    }

    fn read(&mut self) {
        self.look();
        let Some(source) = &mut self.source else { return };
        self.truncated = false;
        // Twice: what waited for another one's end comes in the second round.
        for _ in 0..2 + source.readers.0.len() {
            let mut ended = Vec::new();
            for reader in source.readers.0.iter_mut().filter(|r| r.followed.may_begin()) {
                let mut is_anew =
                    !reader.tail.knows_beginning() && reader.tail.is_rewritten().expect("a look");
                loop {
                    if is_anew {
                        assert!(!reader.tail.has_rest(), "only whole lines are written");
                        reader.tail.restart().expect("restart");
                        reader.followed.tracker.renew();
                        reader.followed.tracker.mark(reader.tail.position()).done();
                    }
                    let (mut text, mut spans) = (Vec::new(), Vec::new());
                    let read = reader.tail.read(&mut text, 100, |span| spans.push(span)).expect("read");
                    is_anew = read == tail::Step::Anew;
                    if is_anew {
                        continue;
                    }
                    if read == tail::Step::End {
                        break;
                    }
                    let lines = spans.iter().map(|span| number(span.of(&text))).collect();
                    source.pending.push((reader.followed.tracker.mark(reader.tail.position()), lines));
                }
                if reader.followed.is_replaced() {
                    Drained(Arc::clone(&reader.followed)).wake();
                }
                if reader.followed.is_let_go() {
                    reader.followed.tracker.forget();
                    ended.push(reader.followed.id);
                }
            }
            source.readers.0.retain(|reader| !ended.contains(&reader.followed.id));
            ended.into_iter().for_each(|id| source.roster.ended(id, &mut source.readers));
        }
    }

    fn acknowledge(&mut self) {
        let Some(source) = &mut self.source else { return };
        for (mark, lines) in source.pending.drain(..) {
            mark.done();
            self.output.extend(lines);
        }
    }

    fn was_read(&self, line: usize) -> bool {
        let pending = self.source.iter().flat_map(|s| &s.pending).flat_map(|(_, lines)| lines);
        self.output.contains(&line) || pending.copied().any(|l| l == line)
    }

    /// The lines of a file are gone from the disk.
    fn gone(&mut self, lines: &[usize]) {
        let lost: Vec<usize> = lines.iter().copied().filter(|line| !self.was_read(*line)).collect();
        self.lost.extend(lost);
    }

    fn step(&mut self, step: &Step) {
        let last = *self.contents.keys().last().expect("a file");
        match step {
            Step::Write(count) => {
                let mut file = File::options().append(true).open(self.path()).expect("open");
                for _ in 0..*count {
                    writeln!(file, "{} a line", self.next_line).expect("write");
                    self.contents.entry(last).or_default().push(self.next_line);
                    self.next_line += 1;
                }
            }
            Step::Rename | Step::Recreate => {
                // Of a file that came and went unseen nobody can know; nor of one that was cut, renamed, and
                // then left by a source that was killed before it had read any of it.
                match self.truncated {
                    true => self.read(),
                    false => self.look(),
                }
                if self.source.is_none() && std::mem::replace(&mut self.touched, true) {
                    return;
                }
                if let Step::Rename = step {
                    let name = format!("log.{}", self.next_name);
                    self.next_name += 1;
                    std::fs::rename(self.path(), self.dir.path().join(name)).expect("rename");
                } else {
                    std::fs::remove_file(self.path()).expect("remove");
                    let lines = self.contents.insert(last, Vec::new()).unwrap_or_default();
                    if self.source.is_none() {
                        self.gone(&lines);
                    } else {
                        // Open: read to its end as long as the source lives.
                        self.contents.insert(last, lines.clone());
                        self.read();
                        self.contents.insert(last, Vec::new());
                    }
                }
                std::fs::write(self.path(), "").expect("write");
                self.contents.insert(last + 1, Vec::new());
            }
            Step::Truncate => {
                // Truncated and then renamed while nobody looked: it cannot be told from another file with
                // its inode.
                self.touched |= self.source.is_none();
                self.truncated = true;
                File::options().write(true).open(self.path()).expect("open").set_len(0).expect("truncate");
                let lines = self.contents.insert(last, Vec::new()).unwrap_or_default();
                self.gone(&lines);
            }
            Step::Look => self.look(),
            Step::Read => self.read(),
            Step::Acknowledge => self.acknowledge(),
            Step::Kill => self.kill(),
            Step::Start => self.start(),
        }
    }

    fn check(mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.step(step));
        self.start();
        self.read();
        self.read();
        self.acknowledge();
        let expected: Vec<usize> = (0..self.next_line).filter(|line| !self.lost.contains(line)).collect();
        if self.matching {
            // Each file in order; between them there is none.
            self.output.sort_unstable();
        }
        assert_eq!(self.output, expected, "lost: {:?}", self.lost);
    }
}

fn number(line: &[u8]) -> usize {
    let text = std::str::from_utf8(line).expect("text");
    text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{text:?}"))
}

fn copy(from: &Store) -> Store {
    let to = Store::in_memory();
    from.with_prefix(b"").iter().for_each(|(name, value)| to.put(name, value));
    to
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_line_of_a_file_comes_once_and_in_order(steps in steps(), defers in any::<bool>()) {
        Model::new(false, defers).check(&steps);
    }

    #[test]
    fn every_line_of_matching_files_comes_once(steps in steps(), defers in any::<bool>()) {
        Model::new(true, defers).check(&steps);
    }
}

/// What the model has found.
#[test]
fn found_before() {
    use Step::*;
    // An inode given out again while batches of its last file were under way.
    let again = [Write(1), Recreate, Recreate, Look, Write(1), Rename, Kill];
    // Two generations of the same second.
    let two = [Write(2), Rename, Read, Write(3), Kill, Write(4), Rename, Write(2)];
    for steps in [&again[..], &two] {
        for (matching, defers) in [(false, false), (false, true), (true, false), (true, true)] {
            Model::new(matching, defers).check(steps);
        }
    }
}

/// Times and inodes say nothing about the order of generations: the kernel's clock goes in steps, inodes are
/// given out again.
#[test]
fn generations_of_one_time_in_their_order() {
    use Step::*;
    for is_late in [false, true] {
        let mut model = Model::new(false, false);
        // The first generation gets the last inode.
        let files: Vec<PathBuf> = (0..3).map(|n| model.dir.path().join(format!("new{n}"))).collect();
        files.iter().for_each(|path| std::fs::write(path, "").expect("write"));
        let mut files: Vec<(u64, PathBuf)> =
            files.into_iter().map(|path| (regular(&path).expect("a file").ino(), path)).collect();
        files.sort();
        let time = std::time::SystemTime::now();
        for generation in 0..3u64 {
            let path = files.pop().expect("a file").1;
            std::fs::rename(path, model.path()).expect("rename");
            [Look, Write(2), Read, Write(1)].iter().for_each(|step| model.step(step));
            let changed = time - std::time::Duration::from_secs(if is_late { generation } else { 0 });
            let file = File::options().write(true).open(model.path()).expect("open");
            file.set_modified(changed).expect("a time");
            if generation < 2 {
                let old = model.dir.path().join(format!("old.{generation}"));
                std::fs::rename(model.path(), old).expect("rename");
            }
        }
        // The last one is renamed while nobody looks.
        [Kill, Rename, Write(1)].iter().for_each(|step| model.step(step));
        // What was found is stored as it was, and found again.
        [Start, Kill].iter().for_each(|step| model.step(step));
        model.check(&[]);
    }
}

#[test]
fn no_more_files_than_allowed_and_the_next_one_when_one_is_gone() {
    let dir = tempfile::tempdir().expect("folder");
    let paths: Vec<PathBuf> = (0..3).map(|n| dir.path().join(format!("log{n}"))).collect();
    paths.iter().for_each(|path| std::fs::write(path, "1 x\n").expect("write"));
    let store = Arc::new(Store::in_memory());
    let wanted = Model::new(true, false).wanted();
    let key = dir.path().display().to_string();
    let mut roster = Roster::new(RosterOptions { wanted, files_max: 2, read_old: true, key }, &store);
    let mut readers = Readers::default();
    let listed: Vec<Listed> =
        paths.iter().map(|path| Listed { path: path.clone(), is_file: true, ino: 0 }).collect();
    roster.start(&listed, &mut readers);
    assert_eq!((readers.0.len(), roster.waiting.len()), (2, 1));
    std::fs::remove_file(&paths[0]).expect("remove");
    roster.examine(&paths[0], &mut readers);
    assert!(readers.0[0].followed.is_let_go());
    roster.ended(readers.0[0].followed.id, &mut readers);
    assert_eq!((readers.0.len(), roster.waiting.len()), (3, 0));
}

/// The limit of descriptors counts as max-files() does, and what waits for it is tried again.
#[test]
fn files_wait_for_descriptors() {
    let dir = tempfile::tempdir().expect("folder");
    let paths: Vec<PathBuf> = (0..3).map(|n| dir.path().join(format!("log{n}"))).collect();
    paths.iter().for_each(|path| std::fs::write(path, "1 x\n").expect("write"));
    let listed = |path: &PathBuf| Listed {
        path: path.clone(),
        is_file: true,
        ino: regular(path).map_or(0, |meta| meta.ino()),
    };
    let listed: Vec<Listed> = paths.iter().map(listed).collect();
    let wanted = Model::new(true, false).wanted();
    let key = dir.path().display().to_string();
    let options = RosterOptions { wanted, files_max: 10, read_old: true, key };
    let mut roster = Roster::new(options, &Arc::new(Store::in_memory()));
    let mut readers = Readers::default();
    roster.start(&listed[..1], &mut readers);
    roster.descriptors_max = 0;
    roster.arrive(&listed, &mut readers);
    roster.arrive_anew(&listed, &mut readers);
    roster.retry(&mut readers);
    assert_eq!((readers.0.len(), roster.waiting.len(), roster.is_starved()), (1, 2, true));
    roster.descriptors_max = u64::MAX;
    roster.retry(&mut readers);
    assert_eq!((readers.0.len(), roster.waiting.len(), roster.is_starved()), (3, 0, false));
    std::fs::remove_file(&paths[0]).expect("remove");
    roster.examine_others(&listed[1..], &mut readers);
    let let_go: Vec<bool> = readers.0.iter().map(|reader| reader.followed.is_let_go()).collect();
    assert_eq!(let_go, [true, false, false]);
}

/// Thousands renamed at once, in one folder, while nobody looked and while somebody did.
#[test]
fn thousands_are_renamed_at_once() {
    const FILES: usize = 300;
    let dir = tempfile::tempdir().expect("folder");
    let path = |n: usize| dir.path().join(format!("log{n}"));
    let store = Arc::new(Store::in_memory());
    let open = || {
        let wanted = Model::new(true, false).wanted();
        let options = RosterOptions { wanted, files_max: FILES, read_old: true, key: "k".into() };
        (Roster::new(options, &store), Readers::default())
    };
    let listed = || -> Vec<Listed> {
        let listed = |n| Listed { path: path(n), is_file: true, ino: 0 };
        (0..FILES).map(listed).collect()
    };
    let write = |text: &str| (0..FILES).for_each(|n| std::fs::write(path(n), text).expect("write"));
    let rename = |to: &str| {
        let to = |n: usize| dir.path().join(format!("old{n}{to}"));
        (0..FILES).for_each(|n| std::fs::rename(path(n), to(n)).expect("rename"));
    };
    // Descriptors of a test may be few.
    let stop = |(roster, readers): (Roster, Readers)| {
        roster.saves().close();
        drop(readers);
    };
    write("1 x\n");
    let (mut roster, mut readers) = open();
    for part in listed().chunks(200) {
        roster.arrive(part, &mut readers);
        readers.0.drain(..).for_each(|reader| roster.ended(reader.followed.id, &mut Readers::default()));
    }
    roster.store();
    stop((roster, readers));
    assert_eq!(store.with_prefix(b"k/").len(), FILES);
    rename(".1");
    let (mut roster, mut readers) = open();
    roster.start(&[], &mut readers);
    assert_eq!((readers.0.len(), roster.left.count()), (FILES, FILES));
    let waited_for = readers.0.iter().filter(|reader| !reader.followed.is_hurried()).count();
    assert!(waited_for < 100, "{waited_for}");
    stop((roster, readers));
    // Without descriptors they are found later.
    let (mut roster, mut readers) = open();
    roster.descriptors_max = 0;
    roster.start(&[], &mut readers);
    assert_eq!((readers.0.len(), roster.renamed.len(), roster.is_starved()), (0, FILES, true));
    assert_eq!(store.with_prefix(b"k/").len(), FILES, "positions are kept");
    roster.descriptors_max = u64::MAX;
    roster.retry(&mut readers);
    assert_eq!((readers.0.len(), roster.renamed.len(), roster.is_starved()), (FILES, 0, false));
    stop((roster, readers));
}
