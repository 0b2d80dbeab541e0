//! The packages, made of the binary under test: judged by what the distribution's own tools say of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::{Lab, root, run_command, skip};

/// What a command prints; it must succeed.
#[track_caller]
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn has(program: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output()
        .is_ok_and(|o| o.status.success())
}

fn package(lab: &Lab, folder: &str, formats: &[&str]) -> PathBuf {
    let out = lab.path(folder);
    std::fs::create_dir_all(&out).expect("a folder");
    let stripped = lab.path("stripped");
    if !stripped.exists() {
        output(Command::new("objcopy").arg("--strip-all").arg(testkit::binary()).arg(&stripped));
    }
    let script = root().join("scripts/package");
    output(Command::new(script).arg("--binary").arg(&stripped).arg("--out").arg(&out).args(formats));
    out
}

fn named(folder: &Path, start: &str, end: &str) -> PathBuf {
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(start) && name.ends_with(end)
    };
    let mut entries = std::fs::read_dir(folder).expect("the packages").flatten().map(|entry| entry.path());
    entries.find(fits).unwrap_or_else(|| panic!("no {start}*{end} in {}", folder.display()))
}

#[test]
fn a_debian_package_has_what_it_promises_and_two_archives_are_the_same() {
    if !has("dpkg-deb") || !has("objcopy") {
        return skip("dpkg-deb or objcopy is not installed");
    }
    let lab = Lab::new();
    let one = package(&lab, "one", &["deb", "tar"]);
    let deb = named(&one, "penstock_", ".deb");
    let contents = output(Command::new("dpkg-deb").arg("--contents").arg(&deb));
    for file in [
        "./usr/bin/penstock",
        "./etc/penstock/penstock.conf",
        "./lib/systemd/system/penstock.service",
        "./usr/lib/sysusers.d/penstock.conf",
        "./usr/share/man/man8/penstock-run.8.gz",
        "./usr/share/bash-completion/completions/penstock",
        "./usr/share/doc/penstock/penstock.cdx.json",
        "./usr/share/doc/penstock/third-party-licences.txt.gz",
    ] {
        let line = contents.lines().find(|line| line.ends_with(file)).unwrap_or_else(|| panic!("no {file}"));
        assert!(line.contains("root/root"), "{line}");
    }
    let fields = output(Command::new("dpkg-deb").arg("--info").arg(&deb));
    assert!(fields.contains("conffiles") && fields.contains("postinst"), "{fields}");
    let compat =
        output(Command::new("dpkg-deb").arg("--contents").arg(named(&one, "penstock-syslog-ng-", ".deb")));
    for part in [
        "./usr/sbin/syslog-ng -> ../bin/penstock",
        "./usr/bin/loggen -> penstock",
        "./lib/systemd/system/penstock.service.d/syslog-ng-compat.conf",
        "./etc/logrotate.d/penstock-syslog-ng-compat",
    ] {
        assert!(compat.contains(part), "{compat}");
    }
    // Debian has the text of the licence once for all packages.
    assert!(!contents.contains("/LICENSE"), "{contents}");
    let archive = output(Command::new("tar").arg("-tzf").arg(named(&one, "penstock-", ".tar.gz")));
    let inside: Vec<&str> = archive.lines().filter_map(|line| Some(line.split_once('/')?.1)).collect();
    for file in ["usr/share/doc/penstock/LICENSE", "usr/lib/systemd/system/penstock.service"] {
        assert!(inside.contains(&file), "{archive}");
    }
    // Over a root whose /lib is a link.
    assert!(!inside.iter().any(|name| name.starts_with("lib")), "{archive}");
    let again = package(&lab, "two", &["tar"]);
    let bytes = |folder: &Path| std::fs::read(named(folder, "penstock-", ".tar.gz")).expect("an archive");
    assert!(bytes(&one) == bytes(&again), "two runs make different archives");
    if has("lintian") {
        let said = Command::new("lintian")
            .args(["--fail-on", "error", "--tag-display-limit", "0"])
            .arg(&deb)
            .output();
        let said = said.expect("lintian");
        let text = String::from_utf8_lossy(&said.stdout);
        assert!(said.status.success(), "{text}");
    }
}

#[test]
fn the_image_is_one_that_others_can_read() {
    if !has("skopeo") || !has("objcopy") || !has("python3") {
        return skip("skopeo, objcopy or python3 is not installed");
    }
    let lab = Lab::new();
    let out = package(&lab, "image", &["oci"]);
    let image = format!("oci:{}", out.join("oci").display());
    let inspected = output(Command::new("skopeo").args(["inspect", "--config", &image]));
    for part in ["\"10514:10514\"", "SIGTERM", "/usr/bin/penstock", "PENSTOCK_TEMPLATE=$ISODATE"] {
        assert!(inspected.contains(part), "{part} is missing in {inspected}");
    }
    let copied = lab.path("copied");
    output(Command::new("skopeo").args(["copy", &image, &format!("dir:{}", copied.display())]));
    assert!(copied.join("manifest.json").exists());
    // Of the format's fields skopeo shows those it knows.
    let blobs = std::fs::read_dir(out.join("oci/blobs/sha256")).expect("the blobs").flatten();
    let blobs: Vec<_> = blobs.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).collect();
    assert!(
        blobs.iter().any(|text| text.contains("\"Healthcheck\":{\"Interval\":30000000000,")),
        "{blobs:?}"
    );
    for package in ["libc6", "ca-certificates", "tzdata"] {
        let paper = format!("usr/share/doc/{package}/copyright");
        assert_eq!(out.join("image").join(&paper).exists(), Path::new("/").join(&paper).exists(), "{paper}");
    }
    for file in [
        "usr/share/doc/penstock/LICENSE",
        "usr/share/doc/penstock/NOTICE",
        "usr/share/doc/penstock/third-party-licences.txt.gz",
        "usr/share/doc/penstock/penstock.cdx.json",
    ] {
        assert!(out.join("image").join(file).exists(), "{file}");
    }
    // A zone of this machine is one in the image, too.
    let zone = "usr/share/zoneinfo/Europe/Berlin";
    assert_eq!(out.join("image").join(zone).exists(), Path::new("/").join(zone).exists());
}

#[test]
fn a_package_of_the_other_kind_has_the_same_parts() {
    if !has("rpmbuild") || !has("rpm") || !has("objcopy") {
        return skip("rpmbuild, rpm or objcopy is not installed");
    }
    let lab = Lab::new();
    let out = package(&lab, "rpm", &["rpm"]);
    if has("rpmlint") {
        let said = Command::new("rpmlint")
            .args(["penstock-0", "penstock-syslog-ng-compat-"].map(|start| named(&out, start, ".rpm")))
            .output();
        let said = String::from_utf8_lossy(&said.expect("rpmlint").stdout).into_owned();
        // Who publishes them signs them.
        let errors: Vec<&str> =
            said.lines().filter(|line| line.contains(": E: ") && !line.contains("no-signature")).collect();
        assert_eq!(errors, Vec::<&str>::new(), "{said}");
    }
    let listed = |start: &str| output(Command::new("rpm").args(["-qpl"]).arg(named(&out, start, ".rpm")));
    let (own, compat) = (listed("penstock-0"), listed("penstock-syslog-ng-compat-"));
    for (files, parts) in [
        (
            own,
            &[
                "/usr/bin/penstock",
                "/usr/lib/systemd/system/penstock.service",
                "/usr/share/doc/penstock/penstock.cdx.json",
            ][..],
        ),
        (
            compat,
            &[
                "/usr/sbin/syslog-ng",
                "/usr/lib/systemd/system/syslog-ng.service",
                "/usr/lib/systemd/system/penstock.service.d/syslog-ng-compat.conf",
                "/etc/logrotate.d/penstock-syslog-ng-compat",
            ],
        ),
    ] {
        for part in parts {
            assert!(files.lines().any(|line| line == *part), "no {part} in\n{files}");
        }
    }
}

#[test]
fn the_unit_says_little_is_exposed() {
    if !has("systemd-analyze") {
        return skip("systemd-analyze is not installed");
    }
    let unit = root().join("packaging/systemd/penstock.service");
    let args = ["security", "--offline=true", "--threshold=30"];
    let said = Command::new("systemd-analyze").args(args).arg(&unit).output().expect("systemd-analyze");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "{}", text.lines().last().unwrap_or_default());
}

/// Without these the service cannot give up capabilities, or confine itself: it does not start.
#[test]
fn the_unit_allows_the_calls_that_the_program_begins_with() {
    let unit = std::fs::read_to_string(root().join("packaging/systemd/penstock.service")).expect("the unit");
    let mut filters = unit.lines().filter_map(|line| line.strip_prefix("SystemCallFilter="));
    let last: Vec<&str> = filters.next_back().unwrap_or_default().split(' ').collect();
    for call in
        ["capset", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"]
    {
        assert!(last.contains(&call), "{call} is not in {last:?}");
    }
    // It confines itself; what docs/sandbox.md has people write into a drop-in reaches both commands.
    let docs = std::fs::read_to_string(root().join("docs/sandbox.md")).expect("the page");
    assert!(docs.lines().any(|line| line == "    Environment=PENSTOCK_OPTIONS="), "{docs}");
    let is_confined =
        unit.lines().any(|line| line == "Environment=\"PENSTOCK_OPTIONS=--sandbox if-possible\"");
    assert!(is_confined, "{unit}");
    for command in ["ExecStart=/usr/bin/penstock", "ExecReload=/usr/bin/penstock"] {
        let line = unit.lines().find(|line| line.starts_with(command)).unwrap_or_default();
        assert!(line.contains(" $PENSTOCK_OPTIONS ") && !line.contains("sandbox"), "{line}");
    }
    // The user of the service cannot make files in /var/log.
    let made = |when: &str| format!("{when}=-+/usr/bin/systemd-tmpfiles --create penstock.conf");
    for line in [made("ExecStartPre"), made("ExecReload")] {
        assert!(unit.lines().any(|known| known == line), "{line}");
    }
}

#[test]
fn systemd_finds_nothing_wrong_with_the_units() {
    if !has("systemd-analyze") {
        return skip("systemd-analyze is not installed");
    }
    let lab = Lab::new();
    let units =
        [("systemd", "penstock.service"), ("systemd", "penstock.socket"), ("compat", "syslog-ng.service")];
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--man=no"]);
    for (folder, name) in units {
        let text = std::fs::read_to_string(root().join("packaging").join(folder).join(name)).expect("a unit");
        // The program is not installed here.
        let program = testkit::binary().display().to_string();
        let text = text
            .replace("/usr/bin/penstock", &program)
            .replace("/usr/sbin/syslog-ng ", &format!("{program} "));
        std::fs::write(lab.path(name), text).expect("written");
        command.arg(lab.path(name));
    }
    let said = command.output().expect("systemd-analyze");
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    // A finding names the unit; what is said of the machine does not.
    let findings: Vec<&str> =
        text.lines().filter(|line| units.iter().any(|(_, name)| line.contains(name))).collect();
    assert!(said.status.success() && findings.is_empty(), "{text}");
}

#[test]
fn every_commented_example_of_the_first_configuration_is_right() {
    let lab = Lab::new();
    let text = std::fs::read_to_string(root().join("packaging/penstock.conf")).expect("the configuration");
    let (plain, examples) = text.split_once("# The first ten things").expect("the examples");
    let uncommented: Vec<&str> = examples
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        // Headings: `1. Messages of ...`, and their second lines.
        .filter(|line| {
            line.contains("{ ") || line.contains("};") || line.starts_with("    ") || line.ends_with(" {")
        })
        .collect();
    let whole = lab.path("whole.conf");
    let written = format!("{plain}{}\n", uncommented.join("\n"));
    for key in ["key.pem", "cert.pem"] {
        std::fs::write(lab.path(key), "").expect("a file");
    }
    std::fs::write(&whole, written.replace("/etc/penstock/tls", &lab.dir().display().to_string()))
        .expect("written");
    let said = run_command(&["check", &whole.display().to_string()]);
    // Keys are the user's, ports below 1024 the service's.
    let errors: Vec<&str> = said
        .stderr
        .lines()
        .filter(|line| line.contains(": error["))
        .filter(|line| !["C0103", "C0105", "C0106"].iter().any(|code| line.contains(code)))
        .collect();
    assert_eq!(errors, Vec::<&str>::new(), "{}", said.stderr);
    assert_eq!(uncommented.iter().filter(|line| line.starts_with("log {")).count(), 10, "{uncommented:?}");
}

/// What the installation tells the service manager to do, where these services run.
fn told_by_postinst(lab: &Lab, args: &str, active: &[&str]) -> (String, String) {
    let (bin, told) = (lab.path("bin"), lab.path("told"));
    std::fs::create_dir_all(&bin).expect("a folder");
    std::fs::write(&told, "").expect("a file");
    let active = active.join("|");
    let stubs = [
        (
            "systemctl",
            format!("case \"$*\" in *is-active*) case \"$3\" in {active}) ;; *) false ;; esac ;; esac"),
        ),
        ("deb-systemd-invoke", format!("echo \"$*\" >>'{}'", told.display())),
        ("deb-systemd-helper", String::new()),
        ("systemd-sysusers", String::new()),
        ("systemd-tmpfiles", String::new()),
        ("install", String::new()),
        ("penstock", String::new()),
    ];
    for (name, text) in stubs {
        let path = bin.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a stub");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    }
    let script = std::fs::read_to_string(root().join("packaging/deb/postinst")).expect("the script");
    let booted = lab.dir().display().to_string();
    let script =
        script.replace("/run/systemd/system", &booted).replace("/lib/systemd/system/penstock", "/none");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let command = format!("set -- {args}\n{script}");
    let said = Command::new("sh").args(["-c", &command]).env("PATH", path).output().expect("a shell");
    assert!(said.status.success(), "{said:?}");
    (lab.text("told"), String::from_utf8_lossy(&said.stderr).into_owned())
}

#[test]
fn an_installation_starts_no_service_beside_rsyslog() {
    let lab = Lab::new();
    let (told, said) = told_by_postinst(&lab, "configure ''", &["rsyslog.service"]);
    assert_eq!(told, "", "{said}");
    assert!(said.contains("apt purge rsyslog"), "{said}");
    let (told, said) = told_by_postinst(&lab, "configure ''", &["none"]);
    assert_eq!((told.as_str(), said.as_str()), ("start penstock.service\n", ""));
    // Who has both has decided so.
    let (told, said) = told_by_postinst(&lab, "configure 0.1.0", &["rsyslog.service", "penstock.service"]);
    assert_eq!((told.as_str(), said.as_str()), ("reload penstock.service\n", ""));
    let (told, _) = told_by_postinst(&lab, "configure 0.1.0", &["rsyslog.service"]);
    assert_eq!(told, "start penstock.service\n");
}
