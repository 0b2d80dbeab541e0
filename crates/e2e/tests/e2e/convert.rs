//! `penstock convert`: configurations of rsyslog in the manner of real ones, converted, checked, and run
//! beside the distribution's rsyslogd on the same messages: they write the same files.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use testkit::{Lab, Penstock, Sender, Signal, free_port, run_command, skip, wait_while_some};

const RSYSLOGD: &str = "/usr/sbin/rsyslogd";

/// Messages that come to both, the last one everywhere.
const MESSAGES: [&str; 10] = [
    "<13>Nov 11 01:02:03 web app[12]: hello",
    "<22>Nov 11 01:02:04 mail postfix/smtpd[3]: connect from a.example.com",
    "<38>Nov 11 01:02:05 web sshd[99]: Failed password for root from 10.0.0.7",
    "<86>Nov 11 01:02:06 db su: session opened",
    "<78>Nov 11 01:02:07 db CRON[5]: (root) CMD (true)",
    "<3>Nov 11 01:02:08 db kernel: oops",
    "<134>Nov 11 01:02:09 fw fw: DENY tcp 10.1.1.1:99 -> 10.2.2.2:22",
    "<135>Nov 11 01:02:10 fw fw: debug of a session",
    "<11>Nov 11 01:02:11 web app[12]: error: disk \"full\" 100%",
    "<13>Nov 11 01:02:12 web last: the end",
];

/// Configurations in the manner of real ones. %PORT% is what both listen on, %DIR% where they write.
const CONFIGS: [(&str, &str); 10] = [
    ("distribution default", include_str!("convert/default.conf")),
    ("central server, a file for each host", include_str!("convert/per-host.conf")),
    ("property filters", include_str!("convert/properties.conf")),
    ("RainerScript", include_str!("convert/script.conf")),
    ("rulesets", include_str!("convert/rulesets.conf")),
    ("templates of lists", include_str!("convert/lists.conf")),
    ("legacy directives", include_str!("convert/legacy.conf")),
    ("includes", include_str!("convert/includes.conf")),
    ("queues and forwarding", include_str!("convert/queues.conf")),
    ("nested conditions", include_str!("convert/nested.conf")),
];

struct Rsyslogd(Child);

impl Rsyslogd {
    fn start(config: &Path, folder: &Path) -> Rsyslogd {
        let child = Command::new(RSYSLOGD)
            .args(["-n", "-i"])
            .arg(folder.join("pid"))
            .arg("-f")
            .arg(config)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("rsyslogd");
        Rsyslogd(child)
    }

    /// Ends it after it has written what it has.
    fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, Signal::TERM).expect("the signal");
        self.0.wait().expect("the end of rsyslogd");
    }
}

/// The files below a folder, with what is in them.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut left: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(
                std::fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()),
            );
        } else {
            let name = path.strip_prefix(folder).expect("below").display().to_string();
            found.insert(name, String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).into_owned());
        }
    }
    found
}

/// rsyslogd listens a moment after it is started.
fn connected(port: u16) -> TcpStream {
    let mut made = None;
    wait_while_some(|| match TcpStream::connect(("127.0.0.1", port)) {
        Ok(stream) => {
            made = Some(stream);
            None
        }
        Err(error) => Some(format!("port {port}: {error}")),
    });
    made.expect("a connection")
}

fn send(port: u16) {
    drop(connected(port));
    let mut sender = Sender::tcp(port);
    MESSAGES.iter().for_each(|line| sender.line(line));
}

/// Where the last message of all has been written, everything has.
fn wait_for_the_end(folder: &Path) {
    wait_while_some(|| {
        let all = files(folder);
        let is_there = all.values().any(|text| text.contains("the end"));
        (!is_there).then(|| format!("{all:#?}"))
    });
}

/// The configuration for one of the two.
fn filled(text: &str, port: u16, folder: &Path) -> String {
    text.replace("%PORT%", &port.to_string()).replace("%DIR%", &folder.display().to_string())
}

/// Runs both, rsyslogd with a configuration and this program with what it becomes, and compares their files.
fn compare(name: &str, text: &str, send: &dyn Fn(u16)) {
    let lab = Lab::new();
    let [theirs, ours, side] = ["theirs", "ours", "side"].map(|folder| lab.path(folder));
    [&theirs, &ours, &side].into_iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    let ports = [free_port(), free_port()];
    let part = side.join("part.conf");
    let extra =
        "if $programname == 'sshd' then {\n  action(type=\"omfile\" file=\"%DIR%/included\")\n  stop\n}\n";
    let text = text.replace("%PART%", &part.display().to_string());
    std::fs::write(&part, filled(extra, ports[0], &theirs)).unwrap();
    let config = side.join("rsyslog.conf");
    std::fs::write(&config, filled(&text, ports[0], &theirs)).unwrap();
    let rsyslogd = Rsyslogd::start(&config, &side);
    send(ports[0]);
    wait_for_the_end(&theirs);
    rsyslogd.stop();
    std::fs::write(&part, filled(extra, ports[1], &ours)).unwrap();
    std::fs::write(&config, filled(&text, ports[1], &ours)).unwrap();
    let converted = run_command(&["convert", &config.display().to_string()]);
    assert_eq!(converted.code, Some(0), "{name}: {converted:?}");
    let own = side.join("penstock.conf");
    std::fs::write(&own, &converted.stdout).unwrap();
    let checked = run_command(&["check", &own.display().to_string()]);
    assert_eq!(checked.code, Some(0), "{name}: {checked:?}\n{}", converted.stdout);
    let penstock = Penstock::start(&lab, &converted.stdout);
    send(ports[1]);
    wait_for_the_end(&ours);
    penstock.stop();
    assert_eq!(files(&ours), files(&theirs), "{name}:\n{}", converted.stdout);
}

#[test]
fn both_write_the_same_files() {
    if !Path::new(RSYSLOGD).exists() {
        return skip("there is no rsyslogd: ./x servers rsyslog");
    }
    for (name, text) in CONFIGS {
        compare(name, text, &send);
    }
}

/// Without a line end between them, as senders that count octets write them.
fn send_counted(port: u16) {
    let mut stream = connected(port);
    let records = MESSAGES.iter().copied();
    let newer = "<165>1 2026-11-11T01:02:03.123456+02:00 new evntslog 77 ID47 [a@1 b=\"c\"] hello from afar";
    for record in [newer].into_iter().chain(records) {
        write!(stream, "{} {record}", record.len()).expect("a record");
    }
}

#[test]
fn counted_octets_and_newer_records_are_read_as_there() {
    if !Path::new(RSYSLOGD).exists() {
        return skip("there is no rsyslogd: ./x servers rsyslog");
    }
    let text = include_str!("convert/newer.conf");
    compare("counted octets", text, &send_counted);
}

#[test]
fn what_is_not_converted_is_listed() {
    let lab = Lab::new();
    let path = lab.path("rsyslog.conf");
    let text = "module(load=\"imtcp\")\ninput(type=\"imtcp\" port=\"601\")\n*.* :ommysql:h,d,u,p\n*.* /var/log/all\n";
    std::fs::write(&path, text).unwrap();
    let out = lab.path("penstock.conf");
    let outcome =
        run_command(&["convert", &path.display().to_string(), "--output", &out.display().to_string()]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let line = format!("{}:3: not converted: :ommysql:h,d,u,p", path.display());
    assert!(outcome.stderr.starts_with(&line), "{outcome:?}");
    let written = std::fs::read_to_string(&out).unwrap();
    assert!(written.contains(&format!("# {line}")), "{written}");
    assert!(written.contains("file(\"/var/log/all\""), "{written}");
    assert_eq!(run_command(&["check", &out.display().to_string()]).code, Some(0));
    let outcome = run_command(&["convert", &path.display().to_string(), "--json"]);
    let said: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert!(outcome.code == Some(1) && outcome.stderr.is_empty(), "{outcome:?}");
    assert_eq!((&said["version"], said["configuration"].as_str()), (&1.into(), Some(written.as_str())));
    let left = &said["not_converted"][0];
    assert_eq!(left["at"], format!("{}:3", path.display()), "{said:#}");
    assert!(
        left["text"].as_str().unwrap().starts_with(":ommysql:") && !left["why"].as_str().unwrap().is_empty()
    );
    assert_eq!(run_command(&["convert", "/nowhere/rsyslog.conf"]).code, Some(2));
}
