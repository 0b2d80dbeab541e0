//! Moving in where syslog-ng's package was removed and its configuration kept: the program runs in a root
//! folder of its own with nothing of syslog-ng in it but what `apt remove` leaves.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::penstock::binary;
use testkit::{Lab, peers, skip};

/// A root folder with the program, what it is linked with, and nothing else.
struct Root {
    folder: PathBuf,
}

impl Root {
    fn new(lab: &Lab) -> Root {
        let root = Root { folder: lab.path("root") };
        for (file, text) in [
            ("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"),
            ("etc/group", "root:x:0:\nadm:x:4:\n"),
            ("etc/syslog-ng/conf.d/README", ""),
            ("dev/README", ""),
            ("var/log/README", ""),
            ("var/log/news/README", ""),
        ] {
            root.write(file, text);
        }
        root.copy(binary(), "usr/bin/penstock");
        let linked = Command::new("ldd").arg(binary()).output().expect("ldd runs");
        for word in String::from_utf8_lossy(&linked.stdout).split_whitespace().filter(|w| w.starts_with('/'))
        {
            root.copy(Path::new(word), word.trim_start_matches('/'));
        }
        root
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
        std::fs::write(path, text).expect("a file is written");
    }

    fn copy(&self, from: &Path, to: &str) {
        let path = self.folder.join(to);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
        // The file itself: a symbolic link, such as the loader's name, would lead nowhere in there.
        let from = from.canonicalize().expect("the file is there");
        // A link costs nothing; it cannot be made where the lab is on another file system.
        if std::fs::hard_link(&from, &path).is_err() {
            std::fs::copy(&from, &path).expect("a file is copied");
        }
    }

    /// The program inside, to be run by one of the ways in that this user may have; None where there is none.
    fn command(&self) -> Option<Command> {
        // Machines of continuous builds seldom have a root, but often `sudo` without a password.
        let ways: [&[&str]; 3] = [&[], &["unshare", "--map-root-user"], &["sudo", "--non-interactive"]];
        let inside = |way: &[&str]| {
            let words = [way, &["chroot"]].concat();
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).arg(&self.folder).arg("/usr/bin/penstock");
            command
        };
        let leads_in =
            |way: &&[&str]| inside(way).arg("--version").output().is_ok_and(|o| o.status.success());
        ways.into_iter().find(leads_in).map(inside)
    }

    fn run(&self, args: &[&str]) -> Option<Output> {
        Some(self.command()?.args(args).output().expect("it ran before"))
    }
}

/// The configuration that upstream's Debian packages come with, in what matters here.
const UPSTREAM: &str = r#"@version: 4.10
@include "scl.conf"
options { chain_hostnames(off); flush_lines(0); use_dns(no); owner("root"); group("adm"); perm(0640); stats(freq(0)); };
source s_src { system(); internal(); };
destination d_console_all { file(`tty10`); };
destination d_auth { file("/var/log/auth.log"); };
filter f_dbg { level(debug); };
filter f_auth { facility(auth, authpriv) and not filter(f_dbg); };
log { source(s_src); filter(f_auth); destination(d_auth); };
log { source(s_src); filter { level(warn .. emerg); }; destination(d_console_all); };
@include "/etc/syslog-ng/conf.d/*.conf"
"#;

/// The same of Debian 12, with what needs the library.
const BOOKWORM: &str = r#"@version: 3.38
@include "scl.conf"
options { chain_hostnames(off); use_dns(no); owner("root"); group("adm"); perm(0640); };
source s_src { system(); internal(); };
source s_net { default-network-drivers(); };
destination d_console_all { getvirtconsole(); };
log { source(s_src); source(s_net); parser { app-parser(topic(syslog)); }; destination(d_console_all); };
"#;

/// The shape of the scl.conf in /etc that Debian's package keeps when it is removed.
const KEPT_SCL: &str =
    "@module appmodel\n\n@include 'scl/*/*.conf'\n\n@define java-module-dir \"`module-install-dir`/java\"\n";

/// Checks the configuration in the root folder: no error, and nothing said about a missing library.
fn accepted(root: &Root, what: &str) -> bool {
    let Some(output) = root.run(&["check", "/etc/syslog-ng/syslog-ng.conf"]) else {
        skip("this user may not change the root folder");
        return false;
    };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "{what}: {text}");
    for code in ["E0121", "P0013", "P0030", "P0032", "O0111", "O0112"] {
        assert!(!text.contains(code), "{what}: {text}");
    }
    true
}

#[test]
fn a_kept_configuration_is_accepted_when_the_package_is_gone() {
    let (lab, other) = (Lab::new(), Lab::new());
    let root = Root::new(&lab);
    root.write("etc/syslog-ng/syslog-ng.conf", UPSTREAM);
    if !accepted(&root, "upstream's, nothing else") {
        return;
    }
    let named = "@include \"scl.conf\"\n@include \"`scl-root`/system/tty10.conf\"";
    root.write("etc/syslog-ng/syslog-ng.conf", &UPSTREAM.replace("@include \"scl.conf\"", named));
    accepted(&root, "upstream's with its file by name");
    let absolute = "@include \"scl.conf\"\n@include \"/usr/share/syslog-ng/include/scl/system/tty10.conf\"";
    root.write("etc/syslog-ng/syslog-ng.conf", &UPSTREAM.replace("@include \"scl.conf\"", absolute));
    accepted(&root, "upstream's with its file by its whole name");
    root.write("usr/share/syslog-ng/include/scl/system/tty10.conf", "@define tty10 \"/dev/tty10\"\n");
    accepted(&root, "upstream's where the file is still there");

    let root = Root::new(&other);
    root.write("etc/syslog-ng/syslog-ng.conf", BOOKWORM);
    root.write("etc/syslog-ng/scl.conf", KEPT_SCL);
    accepted(&root, "Debian 12's");
    // The administrator's own block was in the package's folder, so dpkg left the folder.
    let own = "block parser mine() { kv-parser(); };\n";
    root.write("usr/share/syslog-ng/include/scl/mine/plugin.conf", own);
    let with_own = BOOKWORM.replace("parser { app-parser", "parser { mine(); app-parser");
    root.write("etc/syslog-ng/syslog-ng.conf", &with_own);
    accepted(&root, "Debian 12's with a block of one's own");
}

#[test]
fn the_files_of_the_real_package_are_accepted_when_it_is_gone() {
    let lab = Lab::new();
    let Some(scl) = peers::scl() else { return skip(peers::MISSING) };
    let kept = scl.ancestors().nth(5).expect("the root of the package").join("etc/syslog-ng");
    if !kept.join("syslog-ng.conf").is_file() {
        return skip(peers::MISSING);
    }
    let root = Root::new(&lab);
    for name in ["syslog-ng.conf", "scl.conf"] {
        let text = std::fs::read_to_string(kept.join(name)).expect("a file of the package");
        root.write(&format!("etc/syslog-ng/{name}"), &text);
    }
    accepted(&root, "the package's");
}
