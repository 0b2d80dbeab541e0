//! Files that are read: 1, 10 and 100 folders with 1, 10 and 100 files in each, and one file through costly work.

use super::aim::Aim;
use super::{Case, Feed, ONE, OWN, PLAIN, Path};
use crate::cases::Input;
use crate::files::Layout;
use crate::receiver::Receiver;

const COUNT: usize = 12;

/// Lines of each file at least: for fewer, opening and closing it would be most of the work, of whatever program.
pub(super) const LINES_MIN: u64 = 200;

/// Of published tables the best, 180,000 messages a second of one core, ten times over: 0.55 us.
const AIMS: &[Aim] = &[Aim::CpuUs(0.55)];
/// Whatever the layout.
const LIKE_ONE: &[Aim] = &[Aim::CpuUs(0.55), Aim::TimesCase { case: "files-1x1", times: 1.15 }];

const READERS: &[Receiver] =
    &[Receiver::Floor, Receiver::Penstock, Receiver::SyslogNg, Receiver::SyslogNgTuned];

const fn case(name: &'static str, about: &'static str, folders: usize, files: usize) -> Case {
    let layout = Layout { folders, files };
    let input = Input { feed: Feed::Files(layout), connections: layout.count(), ..ONE };
    // What one core does: one file is read by one worker anyway, and two workers that write to one file cost each other something.
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
    case("files-100x100", "100 folders with 100 files each", 100, 100),
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
        about: "the same, two workers share the file",
        path: Path::Costly,
        worker_threads: Some(2),
        aims: &[Aim::FasterThanCase { case: "files-costly-1-worker", times: 1.6 }],
        receivers: OWN,
        ..ONE_FILE
    },
];
