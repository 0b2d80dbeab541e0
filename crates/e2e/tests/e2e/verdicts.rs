//! `check` against `run`: what keeps the program from starting is an error of `check`, and what it starts
//! with is none. The oracle is the program that starts (`--check-startup`, which opens everything and ends),
//! not a list of what `check` should say.

use crate::messages::HEAD;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::Lab;
use testkit::penstock::binary;

/// `%dir%` and the rest as in [`Lab`]; the folder has a file `there`, a folder `folder`, a pipe `fifo` and a
/// key `key.pem` with its certificate `cert.pem`.
const CASES: &[(&str, bool, &str)] = &[
    ("nothing special", true, "source s { network(port(%port:a%)); };"),
    (
        "one address twice",
        false,
        "source s { network(port(%port:a%)); syslog(ip(127.0.0.1) port(%port:a%)); };",
    ),
    (
        "one address twice, of two statements",
        false,
        "source s { network(port(%port:a%)); }; source t { tcp(ip(127.0.0.1) port(%port:a%) persist-name(x)); };\n\
         log { source(t); destination(d); };",
    ),
    ("TCP and UDP", true, "source s { network(port(%port:a%)); network(transport(udp) port(%port:a%)); };"),
    ("IPv6 has IPv4 in it", false, "source s { tcp6(port(%port:a%)); tcp(port(%port:a%)); };"),
    (
        "a shared port",
        true,
        "source s { network(port(%port:a%) so-reuseport(yes)); syslog(transport(tcp) port(%port:a%) so-reuseport(yes) persist-name(x)); };",
    ),
    ("not an address of this machine", false, "source s { network(ip(192.0.2.77) port(%port:a%)); };"),
    (
        "but bound all the same",
        true,
        "source s { network(ip(192.0.2.77) port(%port:a%) ip-freebind(yes)); };",
    ),
    ("no such interface", false, "source s { network(interface(nosuch0) port(%port:a%)); };"),
    ("a time to live there is not", false, "source s { network(port(%port:a%) ip-ttl(999)); };"),
    ("transport(rltp)", true, "source s { network(ip(127.0.0.1) transport(rltp) port(%port:a%)); };"),
    (
        "keys",
        true,
        "source s { network(port(%port:a%) transport(tls) tls(key-file(\"%dir%/key.pem\") cert-file(\"%dir%/cert.pem\") peer-verify(no))); };",
    ),
    (
        "a key that is not there",
        false,
        "source s { network(port(%port:a%) transport(tls) tls(key-file(\"%dir%/no.pem\") cert-file(\"%dir%/cert.pem\") peer-verify(no))); };",
    ),
    (
        "a certificate that is none",
        false,
        "source s { network(port(%port:a%) transport(tls) tls(key-file(\"%dir%/key.pem\") cert-file(\"%dir%/there\") peer-verify(no))); };",
    ),
    (
        "the same behind relp()",
        false,
        "source s { relp(port(%port:a%) tls(key-file(\"%dir%/no.pem\") cert-file(\"%dir%/cert.pem\") peer-verify(no))); };",
    ),
    (
        "authorities that are not there",
        false,
        "source s { network(port(%port:a%) transport(tls) tls(key-file(\"%dir%/key.pem\") cert-file(\"%dir%/cert.pem\") ca-file(\"%dir%/no\"))); };",
    ),
    (
        "a folder of authorities that is not there",
        true,
        "source s { network(port(%port:a%) transport(tls) tls(key-file(\"%dir%/key.pem\") cert-file(\"%dir%/cert.pem\") ca-dir(\"%dir%/no\"))); };",
    ),
    (
        "a folder of revocation lists that is not there",
        false,
        "source s { network(port(%port:a%) transport(tls) tls(key-file(\"%dir%/key.pem\") cert-file(\"%dir%/cert.pem\") ca-dir(\"%dir%\") crl-dir(\"%dir%/no\"))); };",
    ),
    (
        "the keys of a destination",
        true,
        "source s { internal(); }; destination e { network(\"127.0.0.1\" port(%port:a%) transport(tls)\n\
         tls(key-file(\"%dir%/no\") cert-file(\"%dir%/no\") ca-dir(\"%dir%/no\"))); }; log { source(s); destination(e); };",
    ),
    ("a socket", true, "source s { unix-dgram(\"%dir%/socket\"); };"),
    ("a socket in no folder", false, "source s { unix-dgram(\"%dir%/no/socket\"); };"),
    (
        "a socket in a folder that is made",
        true,
        "source s { unix-stream(\"%dir%/no/socket\" create-dirs(yes)); };",
    ),
    ("a socket below a file", false, "source s { unix-stream(\"%dir%/there/socket\" create-dirs(yes)); };"),
    ("an optional socket", true, "source s { unix-stream(\"%dir%/no/socket\" optional(yes)); };"),
    ("a socket where a file is", false, "source s { unix-dgram(\"%dir%/there\"); };"),
    (
        "two sockets at one path",
        false,
        "source s { unix-dgram(\"%dir%/socket\"); unix-stream(\"%dir%/socket\"); };",
    ),
    (
        "a path longer than a socket's address",
        true,
        "source s { unix-dgram(\"%dir%/0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\"); };",
    ),
    (
        "an owner nobody knows",
        true,
        "source s { unix-dgram(\"%dir%/socket\" owner(nosuchuser) group(nosuchgroup)); };",
    ),
    ("a pipe", true, "source s { pipe(\"%dir%/pipe\"); };"),
    ("a pipe in no folder", false, "source s { pipe(\"%dir%/no/pipe\"); };"),
    ("a pipe where a file is", false, "source s { pipe(\"%dir%/there\"); };"),
    ("a file that is not there yet", true, "source s { file(\"%dir%/later/file\"); };"),
    ("a pipe where a file should be", false, "source s { file(\"%dir%/fifo\"); };"),
    ("a folder where a file should be", false, "source s { file(\"%dir%/folder\"); };"),
    (
        "files and folders of destinations",
        true,
        "source s { internal(); }; destination e { file(\"%dir%/no/file\"); file(\"%dir%/folder\"); file(\"%dir%/x\" owner(nosuchuser)); };\n\
         log { source(s); destination(e); };",
    ),
    (
        "a disk-buffer() in a folder",
        true,
        "source s { internal(); }; destination e { network(\"127.0.0.1\" port(%port:a%) disk-buffer(dir(\"%dir%/folder\") capacity-bytes(1MiB))); };\n\
         log { source(s); destination(e); };",
    ),
    (
        "a disk-buffer() in a folder that is made",
        true,
        "source s { internal(); }; destination e { network(\"127.0.0.1\" port(%port:a%) disk-buffer(dir(\"%dir%/new\") capacity-bytes(1MiB))); };\n\
         log { source(s); destination(e); };",
    ),
    (
        "a disk-buffer() in a folder of no folder",
        false,
        "source s { internal(); }; destination e { network(\"127.0.0.1\" port(%port:a%) disk-buffer(dir(\"%dir%/no/new\") capacity-bytes(1MiB))); };\n\
         log { source(s); destination(e); };",
    ),
    (
        "a disk-buffer() where a file is",
        false,
        "source s { internal(); }; destination e { network(\"127.0.0.1\" port(%port:a%) disk-buffer(dir(\"%dir%/there\") capacity-bytes(1MiB))); };\n\
         log { source(s); destination(e); };",
    ),
    (
        "what is not used is not opened",
        true,
        "source s { internal(); };\n\
         source u { network(port(%port:a%)); syslog(port(%port:a%)); unix-dgram(\"%dir%/no/socket\"); file(\"%dir%/fifo\");\n\
         network(port(nosuchservice)); network(transport(tls) tls(key-file(\"%dir%/no\") cert-file(\"%dir%/no\"))); };\n\
         destination u { network(\"127.0.0.1\" transport(tls) tls(pkcs12-file(\"%dir%/no\")) disk-buffer(dir(\"%dir%/no\") capacity-bytes(1MiB)));\n\
         file(\"%dir%/a\"); file(\"%dir%/a\"); file(\"%dir%/b\" hook-commands(startup(\"false\"))); };\n\
         parser u { add-contextual-data(selector(\"$HOST\") database(\"%dir%/no.csv\")); db-parser(file(\"%dir%/no.xml\")); };\n\
         parser v { geoip2(\"$HOST\" database(\"%dir%/no.mmdb\")); channel { parser(nosuch); }; };\n\
         filter u { in-list(\"%dir%/no.list\" value(\"HOST\")) or filter(nosuch) or message(\"(\"); };\n\
         rewrite u { set(\"x\" value(\"y\") condition(filter(nosuch))); };",
    ),
    (
        "a catchall path uses every source",
        false,
        "source s { file(\"%dir%/fifo\"); }; log { destination(d); flags(catchall); };",
    ),
    (
        "a source through another one",
        false,
        "source t { file(\"%dir%/fifo\"); }; source s { channel { source(t); }; };",
    ),
    ("a file that is not there to include", false, "@include \"%dir%/no.conf\"\nsource s { internal(); };"),
    ("a pattern without a match", true, "@include \"%dir%/conf.d/*.conf\"\nsource s { internal(); };"),
    ("bare words in a comparison", false, "source s { internal(); }; filter f { message == \"x\"; };"),
];

fn prepare(lab: &Lab) {
    std::fs::write(lab.path("there"), "").unwrap();
    std::fs::create_dir(lab.path("folder")).unwrap();
    std::fs::create_dir(lab.path("state")).unwrap();
    nix::unistd::mkfifo(&lab.path("fifo"), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(lab.path("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(lab.path("key.pem"), made.signing_key.serialize_pem()).unwrap();
    symlink(binary(), lab.path("syslog-ng")).unwrap();
}

/// Exit code and what was said.
fn outcome(command: &mut Command) -> (Option<i32>, String) {
    let output = command.stdin(Stdio::null()).output().expect("the binary runs");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (output.status.code(), text)
}

fn check_and_run(lab: &Lab, config: &Path, before: &[&str]) -> [(bool, String); 2] {
    let command = |program: &Path| match before.split_first() {
        None => Command::new(program),
        Some((first, words)) => {
            let mut command = Command::new(first);
            command.args(words).arg(program);
            command
        }
    };
    let check = outcome(command(binary()).arg("check").arg(config));
    let state = lab.path("state");
    let mut start = command(&lab.path("syslog-ng"));
    start.arg("--check-startup").arg("-f").arg(config).arg("-R").arg(state.join("penstock.state"));
    start.arg("-c").arg(state.join("control")).arg("-p").arg(state.join("pid"));
    [check, outcome(&mut start)].map(|(code, text)| (code == Some(0), text))
}

#[test]
fn what_check_says_is_what_run_does() {
    let mut faults = String::new();
    for (name, starts, text) in CASES {
        let lab = Lab::new();
        prepare(&lab);
        let config = format!(
            "{HEAD}{text}\ndestination d {{ file(\"%dir%/out\"); }};\n{}log {{ source(s); destination(d); }};\n",
            if text.contains("filter f") { "log { source(s); filter(f); destination(d); };\n" } else { "" }
        );
        let (path, _) = lab.write_config("x.conf", &config);
        let [(fine, said), (runs, logged)] = check_and_run(&lab, &path, &[]);
        if fine != runs || runs != *starts {
            faults.push_str(&format!(
                "=== {name}: check {fine}, run {runs}, expected {starts}\n{said}--- run:\n{logged}"
            ));
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// As somebody who is not root: ports below 1024, folders of others.
#[test]
fn the_same_without_rights() {
    let lab = Lab::new();
    prepare(&lab);
    let nobody =
        ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all"];
    let may = |path: &Path| {
        Command::new(nobody[0])
            .args(&nobody[1..])
            .arg("test")
            .arg("-x")
            .arg(path)
            .status()
            .is_ok_and(|s| s.success())
    };
    let open = std::os::unix::fs::PermissionsExt::from_mode;
    std::fs::set_permissions(lab.dir(), open(0o755)).unwrap();
    std::fs::set_permissions(lab.path("state"), open(0o777)).unwrap();
    std::fs::set_permissions(lab.path("folder"), open(0o755)).unwrap();
    if !may(binary()) || !may(lab.dir()) {
        return testkit::skip("cannot run the program as somebody without rights");
    }
    let first = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").unwrap_or_default();
    let privileged = first.trim().parse().unwrap_or(1024) <= 514;
    let mut faults = String::new();
    for (starts, driver) in [
        (privileged, "network(ip(127.0.0.1) port(514))"),
        (privileged, "udp(ip(127.0.0.1))"),
        (
            privileged,
            "network(ip(127.0.0.1) transport(tls) tls(key-file(\"%dir%/key.pem\") cert-file(\"%dir%/cert.pem\") peer-verify(no)) port(513))",
        ),
        // 35514 and 601: the first needs no privilege.
        (true, "network(ip(127.0.0.17) transport(rltp))"),
        (privileged, "syslog(ip(127.0.0.1))"),
        (true, "syslog(ip(127.0.0.1) port(%port:a%))"),
        (false, "unix-dgram(\"%dir%/folder/socket\")"),
        (true, "unix-dgram(\"%dir%/state/socket\" owner(root) group(root))"),
        (false, "pipe(\"%dir%/folder/pipe\")"),
        (false, "pipe(\"%dir%/fifo\")"),
    ] {
        let config = format!(
            "{HEAD}source s {{ {driver}; }};\ndestination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"
        );
        let (path, _) = lab.write_config("x.conf", &config);
        let [(fine, said), (runs, logged)] = check_and_run(&lab, &path, &nobody);
        if fine != runs || runs != starts {
            faults.push_str(&format!(
                "=== {driver}: check {fine}, run {runs}, expected {starts}\n{said}--- run:\n{logged}"
            ));
        }
    }
    assert!(faults.is_empty(), "{faults}");
}
