//! Sealed logs: `$(slog)` and the tools, with the distribution's on the other side.

use crate::messages::{HEAD, assert_complete, block, message, send};
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::penstock::{binary, run_as};
use testkit::{Collector, Lab, Outcome, Penstock, Sender, Signal, peers, run_command, skip, wait_until};

const CONNECTIONS: usize = 5;
const COUNT: usize = 800;

const SEALED: &str = "$(slog --key-file %dir%/host.key --mac-file %dir%/mac.dat $MSG)\\n";

fn config(destination: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ {destination} }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn to_file() -> String {
    config(&format!("file(\"%dir%/log\" template(\"{SEALED}\"));"))
}

/// The tools of one side, run in the folder of a lab.
struct Tools<'a> {
    lab: &'a Lab,
    /// `None`: our own.
    folder: Option<PathBuf>,
}

impl Tools<'_> {
    /// The words after the tool's name, those with a dot being files of the lab.
    fn run(&self, line: &str) -> Outcome {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (tool, args) = words.split_first().expect("a tool");
        let mut command = match &self.folder {
            Some(folder) => Command::new(folder.join(tool)),
            None => {
                let mut command = Command::new(binary());
                command.arg(tool);
                command
            }
        };
        let output = command.args(args).current_dir(self.lab.dir()).output().expect(line);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Outcome { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    #[track_caller]
    fn good(&self, line: &str) -> Outcome {
        let outcome = self.run(line);
        assert_eq!(outcome.code, Some(0), "{line}: {outcome:?}");
        outcome
    }

    /// Makes `host.key`, and a copy of it as it is first.
    #[track_caller]
    fn make_keys(&self) {
        self.good("slogkey -m master.key");
        self.good("slogkey -d master.key 00:16:3e:12:34:56 SN-4711 host.key");
        std::fs::copy(self.lab.path("host.key"), self.lab.path("host0.key")).expect("copied");
    }

    /// What the log says, without the numbers in front.
    #[track_caller]
    fn opened(&self, arguments: &str) -> Vec<String> {
        self.good(&format!("slogverify {arguments} opened"));
        texts(self.lab)
    }
}

fn texts(lab: &Lab) -> Vec<String> {
    lab.lines("opened")
        .iter()
        .filter_map(|line| line.split_once(": ").map(|(_, text)| text.to_owned()))
        .collect()
}

fn ours(lab: &Lab) -> Tools<'_> {
    Tools { lab, folder: None }
}

fn theirs(lab: &Lab) -> Option<Tools<'_>> {
    Some(Tools { lab, folder: Some(peers::slog_tools()?) })
}

const WHOLE: &str = "-k host0.key -m mac.dat log";

#[test]
fn many_connections_make_one_chain_that_theirs_opens() {
    let lab = Lab::new();
    let theirs = theirs(&lab);
    theirs.as_ref().unwrap_or(&ours(&lab)).make_keys();
    let mut penstock = Penstock::start(&lab, &to_file());
    let mut senders: Vec<Sender> = (0..CONNECTIONS).map(|_| Sender::tcp(lab.port("in"))).collect();
    for first in (0..COUNT).step_by(40) {
        for (connection, sender) in senders.iter_mut().enumerate() {
            let part: String = (first..first + 40).map(|n| message(connection, n) + "\n").collect();
            sender.raw(part.as_bytes());
        }
    }
    senders.into_iter().for_each(Sender::finish);
    penstock.wait_settled((CONNECTIONS * COUNT) as u64).assert_nothing_lost();
    // Nothing has to end for the log to be complete.
    assert_complete(&ours(&lab).opened(WHOLE), CONNECTIONS, COUNT);
    penstock.stop();
    assert!(lab.text("log").lines().all(|line| !line.contains("message")));
    let Some(theirs) = theirs else { return skip(peers::MISSING) };
    assert_complete(&theirs.opened(WHOLE), CONNECTIONS, COUNT);
    let counter = format!("counter={}", CONNECTIONS * COUNT);
    assert_eq!(theirs.good("slogkey -c host.key").stdout.trim(), counter);
    assert_eq!(ours(&lab).good("slogkey --counter host.key").stdout.trim(), counter);
}

#[test]
fn what_theirs_writes_ours_opens() {
    let lab = Lab::new();
    let (Some(program), Some(theirs)) = (peers::syslog_ng(), theirs(&lab)) else {
        return skip(peers::MISSING);
    };
    ours(&lab).make_keys();
    let config = format!(
        "@version: 3.38\noptions {{ keep-hostname(yes); use-dns(no); }};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/log\" template(\"{SEALED}\")); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let mut peer = peers::start_syslog_ng(&lab, &program, &config, &[]);
    send(&lab, 0, 100);
    wait_until("100 entries", || lab.lines("log").len() >= 100);
    peer.terminate();
    assert_complete(&ours(&lab).opened(WHOLE), 1, 100);
    assert_complete(&theirs.opened(WHOLE), 1, 100);
    // Ours goes on with what theirs has left, then theirs with what ours has left.
    let mut penstock = Penstock::start(&lab, &to_file());
    send(&lab, 1, 100);
    penstock.wait_settled(100);
    penstock.stop();
    let mut peer = peers::start_syslog_ng(&lab, &program, &config, &[]);
    send(&lab, 2, 100);
    wait_until("300 entries", || lab.lines("log").len() >= 300);
    peer.terminate();
    assert_complete(&ours(&lab).opened(WHOLE), 3, 100);
    assert_complete(&theirs.opened(WHOLE), 3, 100);
}

#[test]
fn the_tools_take_each_others_files() {
    let lab = Lab::new();
    let Some(theirs) = theirs(&lab) else { return skip(peers::MISSING) };
    let ours = ours(&lab);
    // The same host key comes out of the same master key.
    ours.good("slogkey -m master.key");
    theirs.good("slogkey -d master.key address serial theirs.key");
    ours.good("slogkey -d master.key address serial k0");
    let read = |name: &str| std::fs::read(lab.path(name)).expect(name);
    assert_eq!(read("theirs.key"), read("k0"));
    std::fs::write(lab.path("plain"), "one\ntwo\nthree with\ttab and \u{e9}\n").expect("written");
    let plain = lab.lines("plain");
    ours.good("slogencrypt -k k0 -m m0 k1 m1 plain log1");
    // Theirs ends with 1 when all went well.
    let sealed = theirs.run("slogencrypt -k k1 -m m1 k2 m2 plain log2");
    assert!(sealed.stderr.contains("successfully"), "{sealed:?}");
    ours.good("slogencrypt -k k2 -m m2 k3 m3 plain log3");
    std::fs::write(lab.path("all"), [read("log1"), read("log2"), read("log3")].concat()).expect("written");
    for tools in [&ours, &theirs] {
        assert_eq!(tools.opened("-k k0 -m m1 log1"), plain);
        assert_eq!(tools.opened("-i -p k1 -r m1 -m m2 log2"), plain);
        assert_eq!(
            tools.opened("--iterative --prev-key-file k2 --prev-mac-file m2 --mac-file m3 log3"),
            plain
        );
        assert_eq!(tools.opened("-k k0 -m m3 all"), [&plain[..], &plain, &plain].concat());
        assert_eq!(tools.run("slogverify -k k0 -m m3 log1 opened").code, Some(1));
    }
}

#[test]
fn what_was_done_to_a_log_is_named() {
    let lab = Lab::new();
    let (ours, theirs) = (ours(&lab), theirs(&lab));
    ours.make_keys();
    std::fs::write(lab.path("plain"), block(0, 8)).expect("written");
    ours.good("slogencrypt -k host.key -m mac0 k1 mac.dat plain log");
    let lines = lab.lines("log");
    let damaged = |change: &dyn Fn(&mut Vec<String>), findings: &[&str]| {
        let mut changed = lines.clone();
        change(&mut changed);
        std::fs::write(lab.path("changed"), changed.join("\n") + "\n").expect("written");
        let outcome = ours.run("slogverify -k host0.key -m mac.dat changed opened");
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        for finding in findings {
            assert!(outcome.stderr.contains(finding), "{finding}: {}", outcome.stderr);
        }
        // What can be opened is there.
        let kept = changed.iter().filter(|line| lines.contains(line)).count();
        assert_eq!(texts(&lab).len(), kept);
        if let Some(theirs) = &theirs {
            assert_eq!(
                theirs.run("slogverify -k host0.key -m mac.dat changed opened").code,
                Some(1),
                "{findings:?}"
            );
        }
    };
    let flip = |line: &mut String| {
        let at = line.len() - 10;
        let other = if line[at..].starts_with('A') { "B" } else { "A" };
        line.replace_range(at..=at, other);
    };
    damaged(&|lines| flip(&mut lines[2]), &["line 3: entry 2 is damaged", "aggregated MAC does not match"]);
    damaged(&|lines| lines[3] = "nothing of the kind".into(), &["line 4: this is not an entry"]);
    damaged(&|lines| drop(lines.remove(4)), &["line 5: entry 4 is missing before this line"]);
    damaged(&|lines| lines.swap(5, 6), &["line 7: entry 5 was moved: it stands behind entry 6"]);
    damaged(&|lines| lines.truncate(6), &["line 6: the log is cut off behind entry 5"]);
    damaged(&|lines| lines.push(lines[0].clone()), &["line 9: entry 0 is there a second time"]);
}

/// The numbers of entries found missing, and nothing else must have been found.
fn only_missing(outcome: &Outcome) -> bool {
    let mut findings = outcome.stderr.lines().filter(|line| line.contains(": line "));
    findings.all(|line| line.contains("missing before this line"))
}

#[test]
fn a_kill_leaves_files_from_which_the_chain_goes_on() {
    let lab = Lab::new();
    let ours = ours(&lab);
    ours.make_keys();
    let mut sent = 0;
    for round in 0..6 {
        let mut penstock = Penstock::start(&lab, &to_file());
        let text: String = (sent..sent + COUNT).map(|n| message(0, n) + "\n").collect();
        sent += COUNT;
        let mut sender = Sender::tcp(lab.port("in"));
        let _ = sender.try_raw(text.as_bytes());
        if round % 2 == 0 {
            penstock.wait_settled(COUNT as u64);
        }
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        ours.good("slogkey -c host.key");
    }
    let mut penstock = Penstock::start(&lab, &to_file());
    send(&lab, 1, COUNT);
    penstock.wait_settled(COUNT as u64);
    penstock.stop();
    // Entries that were sealed and not written are missing, like those of any other program that is killed.
    // Nothing else is.
    let outcome = ours.run("slogverify -k host0.key -m mac.dat log opened");
    assert!(only_missing(&outcome), "{}", outcome.stderr);
    let opened = texts(&lab);
    assert_eq!(opened.iter().filter(|text| text.ends_with("of connection 1")).count(), COUNT);
    assert!(opened.iter().filter(|text| text.ends_with("of connection 0")).count() >= 3 * COUNT);
}

#[test]
fn a_killed_program_that_was_idle_leaves_a_complete_log() {
    let lab = Lab::new();
    ours(&lab).make_keys();
    let mut penstock = Penstock::start(&lab, &to_file());
    send(&lab, 0, COUNT);
    penstock.wait_settled(COUNT as u64);
    penstock.signal(Signal::KILL);
    penstock.wait_end();
    assert_complete(&ours(&lab).opened(WHOLE), 1, COUNT);
    if let Some(theirs) = theirs(&lab) {
        assert_complete(&theirs.opened(WHOLE), 1, COUNT);
    }
}

#[test]
fn a_reload_goes_on_and_parts_are_verified_one_by_one() {
    let lab = Lab::new();
    let ours = ours(&lab);
    ours.make_keys();
    let mut penstock = Penstock::start(&lab, &to_file());
    send(&lab, 0, COUNT);
    penstock.wait_settled(COUNT as u64);
    penstock.reload_with(&lab, &(to_file() + "# another text\n"));
    send(&lab, 1, COUNT);
    penstock.wait_settled(2 * COUNT as u64);
    assert_complete(&ours.opened(WHOLE), 2, COUNT);
    penstock.stop();
    // A part is put away with the files of its end; what comes then is verified from there.
    std::fs::rename(lab.path("log"), lab.path("log.1")).expect("moved");
    std::fs::copy(lab.path("host.key"), lab.path("host1.key")).expect("copied");
    std::fs::copy(lab.path("mac.dat"), lab.path("mac1.dat")).expect("copied");
    let mut penstock = Penstock::start(&lab, &to_file());
    send(&lab, 2, COUNT);
    penstock.wait_settled(COUNT as u64);
    let part = "-i -p host1.key -r mac1.dat -m mac.dat log";
    assert_eq!(ours.opened(part).len(), COUNT);
    if let Some(theirs) = theirs(&lab) {
        assert_eq!(theirs.opened(part).len(), COUNT);
    }
    // A new key is put in the place of the old one while the program runs.
    ours.good("slogkey -d master.key address other new.key");
    std::fs::copy(lab.path("new.key"), lab.path("host0.key")).expect("copied");
    std::fs::rename(lab.path("new.key"), lab.path("host.key")).expect("moved");
    send(&lab, 0, COUNT);
    penstock.wait_settled(2 * COUNT as u64);
    penstock.stop();
    let new = lab.lines("log").split_off(COUNT).join("\n");
    std::fs::write(lab.path("new"), new).expect("written");
    assert_complete(&ours.opened("-k host0.key -m mac.dat new"), 1, COUNT);
}

#[test]
fn entries_wait_on_disk_and_leave_in_order() {
    let lab = Lab::new();
    ours(&lab).make_keys();
    let config = config(&format!(
        "syslog(127.0.0.1 port(%port:out%) transport(tcp) template(\"{}\") disk-buffer(capacity-bytes(1GiB) reliable(yes)));",
        SEALED.trim_end_matches("\\n")
    ));
    let penstock = Penstock::start(&lab, &config);
    send(&lab, 0, COUNT);
    wait_until("all to be sealed", || {
        ours(&lab).run("slogkey -c host.key").stdout.trim() == format!("counter={COUNT}")
    });
    penstock.stop();
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, 1, COUNT);
    let collector = Collector::tcp(lab.port("out"));
    let frames = collector.wait_frames(2 * COUNT);
    penstock.wait_settled_input();
    penstock.stop();
    let entry = |frame: &String| frame.rsplit(' ').next().unwrap_or_default().trim().to_owned();
    let entries: Vec<String> = frames.iter().map(entry).collect();
    std::fs::write(lab.path("log"), entries.join("\n") + "\n").expect("written");
    assert_complete(&ours(&lab).opened(WHOLE), 2, COUNT);
}

#[test]
fn what_cannot_work_is_refused() {
    let lab = Lab::new();
    ours(&lab).make_keys();
    let refused = |config: &str, texts: &[&str]| {
        let (path, _) = lab.write_config("refused.conf", config);
        let outcome = run_command(&["check", &path.display().to_string()]);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        for text in texts {
            assert!(outcome.stderr.contains(text) || outcome.stdout.contains(text), "{text}: {outcome:?}");
        }
    };
    let file = |name: &str| format!("file(\"%dir%/{name}\" template(\"{SEALED}\"));");
    refused(
        &config(&(file("one") + &file("other"))),
        &["host.key is in use by the destination d#0", "of its own"],
    );
    refused(&config(&file("$HOST")), &["the name of the file is made from messages"]);
    refused(
        &config(&format!("file(\"%dir%/log\" template(\"{SEALED}\") truncate-size(100));")),
        &["cannot be used with truncate-size()"],
    );
    refused(
        &format!(
            "{}rewrite r {{ set(\"{SEALED}\" value(\"MSG\")); }};\nlog {{ rewrite(r); }};\n",
            config(&file("x"))
        ),
        &["$(slog) cannot be used here", "template() of a destination"],
    );
    let (text, _) = (to_file().replace("host.key", "none.key"), ());
    refused(&text, &["none.key: No such file", "slogkey -d"]);
    std::fs::write(lab.path("host.key"), "damaged").expect("written");
    refused(&to_file(), &["host.key is not a key file: it is too short", "slogkey -c"]);
}

#[test]
fn called_by_their_names() {
    let lab = Lab::new();
    let called = |name: &str| {
        let link = lab.path(name);
        std::os::unix::fs::symlink(binary(), &link).expect("a link");
        link
    };
    let run = |program: &Path, args: &[&str]| {
        let outcome = run_as(program, args);
        assert_eq!(outcome.code, Some(0), "{args:?}: {outcome:?}");
        outcome.stdout
    };
    let slogkey = called("slogkey");
    let path = |name: &str| lab.path(name).display().to_string();
    run(&slogkey, &["--master-key", &path("master")]);
    run(&slogkey, &["--derive-host-key", &path("master"), "a", "b", &path("k0")]);
    assert_eq!(run(&slogkey, &["-c", &path("k0")]).trim(), "counter=0");
    std::fs::write(lab.path("plain"), "one\n").expect("written");
    run(
        &called("slogencrypt"),
        &["-k", &path("k0"), "-m", &path("m0"), &path("k1"), &path("m1"), &path("plain"), &path("log")],
    );
    run(&called("slogverify"), &["-k", &path("k0"), "-m", &path("m1"), &path("log"), &path("opened")]);
    assert_eq!(lab.text("opened"), "00000000000000000000: one\n");
}

/// As AxoSyslog 4.27 seals: asked for, or because the configuration is of its version; other runs and reloads
/// go on in the same way.
#[test]
fn a_log_for_axosyslog_has_the_mac_that_it_begins_with() {
    for (head, compat) in [(HEAD.replace("4.11", "4.26"), ""), (HEAD.to_owned(), "--compat 4.27 ")] {
        let lab = Lab::new();
        let ours = ours(&lab);
        ours.make_keys();
        let config = to_file().replace(HEAD, &head).replace("$(slog ", &format!("$(slog {compat}"));
        let mut penstock = Penstock::start(&lab, &config);
        send(&lab, 0, 100);
        penstock.wait_settled(100);
        penstock.stop();
        let first = std::fs::read(lab.path("mac0.dat")).expect("the first MAC");
        assert_eq!(first.len(), 32);
        // Whatever is asked for now, the chain goes on as it began.
        let mut penstock = Penstock::start(&lab, &to_file());
        send(&lab, 1, 100);
        penstock.wait_settled(100);
        penstock.stop();
        assert_complete(&ours.opened(WHOLE), 2, 100);
        assert_eq!(std::fs::read(lab.path("mac0.dat")).expect("it is there"), first);
        std::fs::remove_file(lab.path("mac0.dat")).expect("it is there");
        let outcome = ours.run("slogverify -k host0.key -m mac.dat log opened");
        assert!(outcome.code == Some(1) && outcome.stderr.contains("mac0.dat"), "{outcome:?}");
    }
    // And not otherwise.
    let lab = Lab::new();
    ours(&lab).make_keys();
    let config =
        to_file().replace(HEAD, &HEAD.replace("4.11", "4.26")).replace("$(slog ", "$(slog --compat 3.38 ");
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, 0, 100);
    penstock.wait_settled(100);
    assert!(!lab.path("mac0.dat").exists());
    assert_complete(&ours(&lab).opened(WHOLE), 1, 100);
    penstock.stop();
}
