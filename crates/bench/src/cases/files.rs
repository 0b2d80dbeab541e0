//! Files that are read from their beginnings, and files that are followed while they are written: 1, 10 and
//! 100 folders with 1, 10 and 100 files in each; what opening a file costs; one file through costly work.

use super::aim::Aim;
use super::{Case, Feed, ONE, OWN, PLAIN, Path};
use crate::cases::Input;
use crate::files::{Layout, Lines, Pace};
use crate::receiver::Receiver;

const COUNT: usize = 26;

/// Lines of each file that is read from its beginning, at least: what 10,000 files get in two minutes of the
/// published tables' rates (95,000 to 180,000 messages a second, whatever the layout). With many more the
/// input and the output of 10,000 files leave the page cache, and the disk is measured. What opening a file
/// costs is a case of its own.
const LINES_MIN: u64 = 1000;
/// The lines of the largest of these cases.
const LINES_MOST: u64 = 100 * 100 * LINES_MIN;
/// Lines that are written to all files together while they are followed, whatever the layout: 500 to each of
/// 10,000, so that there are some rounds of reading. The tables are of minutes of writing, so the files are
/// known.
const WRITTEN: u64 = 5_000_000;
/// Lines a second where they are not written as fast as can be, within what the published tables say
/// receivers took: 95,000 to 180,000.
const PACE: Pace = Pace::PerSecond(150_000);
/// Lines of each file then.
const PACED_MIN: u64 = 100;

/// Of published tables the best, 180,000 messages a second of one core, ten times over: 0.55 us.
const AIMS: &[Aim] = &[Aim::CpuUs(0.55)];
/// Whatever the layout.
const LIKE_ONE: &[Aim] = &[Aim::CpuUs(0.55), Aim::TimesCase { case: "files-1x1", times: 1.15 }];
/// The same beside one file that is as long as 10,000 together: how much memory the system gives for input
/// and output counts too.
const LIKE_ONE_LONG: &[Aim] = &[Aim::CpuUs(0.55), Aim::TimesCase { case: "files-1x1-long", times: 1.15 }];
/// Of published tables the worst, 95,000 messages a second of one core, ten times over.
const PACED_AIMS: &[Aim] = &[Aim::CpuUs(1.05)];
const LIKE_ONE_WRITTEN: &[Aim] =
    &[Aim::CpuUs(0.55), Aim::TimesCase { case: "files-written-1x1", times: 1.15 }];

/// Following a file is to cost little more than a copy of it: beside opening, that it is known by its
/// beginning, and that its position is stored.
const OPENING: &[Aim] = &[Aim::TimesFloor(1.5)];

const READERS: &[Receiver] =
    &[Receiver::Floor, Receiver::Penstock, Receiver::SyslogNg, Receiver::SyslogNgTuned];
const fn case(name: &'static str, about: &'static str, folders: usize, files: usize) -> Case {
    of_lines(name, about, Layout { folders, files, lines: Lines::AtLeast(LINES_MIN) })
}

/// One line in each file: microseconds a message are microseconds a file.
const fn opening(name: &'static str, about: &'static str, folders: usize, files: usize) -> Case {
    let case = of_lines(name, about, Layout { folders, files, lines: Lines::Just(1) });
    Case { aims: OPENING, ..case }
}

/// Lines are appended to files that the receiver knows, as fast as one core writes them.
const fn written(name: &'static str, about: &'static str, folders: usize, files: usize) -> Case {
    let lines = Lines::Written { at_least: WRITTEN / (folders * files) as u64, pace: Pace::Full };
    Case { aims: LIKE_ONE_WRITTEN, ..of_lines(name, about, Layout { folders, files, lines }) }
}

const fn paced(name: &'static str, about: &'static str, folders: usize, files: usize) -> Case {
    let lines = Lines::Written { at_least: PACED_MIN, pace: PACE };
    let case = of_lines(name, about, Layout { folders, files, lines });
    Case { aims: PACED_AIMS, ..case }
}

const fn of_lines(name: &'static str, about: &'static str, layout: Layout) -> Case {
    let input = Input { feed: Feed::Files(layout), connections: layout.count(), ..ONE };
    // What one core does: one file is read by one worker anyway, and two workers that write to one file cost
    // each other something.
    Case { name, about, input, receivers: READERS, aims: LIKE_ONE, worker_threads: Some(1), ..PLAIN }
}

const ONE_FILE: Case = case("files-1x1", "one folder with one file, read from its beginning", 1, 1);

pub(super) const CASES: [Case; COUNT] = [
    Case { aims: AIMS, ..ONE_FILE },
    case("files-1x10", "one folder with 10 files", 1, 10),
    case("files-1x100", "one folder with 100 files", 1, 100),
    case("files-10x1", "10 folders with one file each", 10, 1),
    case("files-10x10", "10 folders with 10 files each", 10, 10),
    case("files-10x100", "10 folders with 100 files each", 10, 100),
    case("files-100x1", "100 folders with one file each", 100, 1),
    case("files-100x10", "100 folders with 10 files each", 100, 10),
    Case {
        aims: AIMS,
        ..of_lines(
            "files-1x1-long",
            "one file as long as 10,000 together",
            Layout { folders: 1, files: 1, lines: Lines::AtLeast(LINES_MOST) },
        )
    },
    Case { aims: LIKE_ONE_LONG, ..case("files-100x100", "100 folders with 100 files each", 100, 100) },
    Case {
        aims: AIMS,
        ..written(
            "files-written-1x1",
            "lines written to one known file as fast as one core can, a line a write",
            1,
            1,
        )
    },
    written("files-written-1x10", "the same, to 10 files in turn", 1, 10),
    written("files-written-1x100", "to 100 files in one folder", 1, 100),
    written("files-written-10x1", "to one file in each of 10 folders", 10, 1),
    written("files-written-10x10", "to 10 files in each of 10 folders", 10, 10),
    written("files-written-10x100", "to 100 files in each of 10 folders", 10, 100),
    written("files-written-100x1", "to one file in each of 100 folders", 100, 1),
    written("files-written-100x10", "to 10 files in each of 100 folders", 100, 10),
    written("files-written-100x100", "to 100 files in each of 100 folders", 100, 100),
    paced("files-paced-1x1", "150,000 lines a second written to one known file, a line a write", 1, 1),
    paced("files-paced-100x100", "to 100 files in each of 100 folders", 100, 100),
    opening(
        "files-opened-10x100",
        "1,000 files with one line each: CPU a message is that of a file",
        10,
        100,
    ),
    opening("files-opened-100x100", "10,000 files with one line each", 100, 100),
    Case {
        worker_threads: None,
        aims: AIMS,
        ..case("files-10x10-all-workers", "10 folders with 10 files each, as many workers as cores", 10, 10)
    },
    Case {
        name: "files-costly-1-worker",
        about: "one file, two expressions and a subst, one worker",
        path: Path::Costly,
        worker_threads: Some(1),
        aims: &[],
        receivers: OWN,
        ..ONE_FILE
    },
    Case {
        name: "files-costly-2-workers",
        about: "the same, two workers share the file; needs two cores that nobody else uses",
        path: Path::Costly,
        worker_threads: Some(2),
        aims: &[Aim::FasterThanCase { case: "files-costly-1-worker", times: 1.6 }],
        receivers: OWN,
        ..ONE_FILE
    },
];
