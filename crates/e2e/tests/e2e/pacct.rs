//! `pacct()`: records that the kernel writes, over a restart and a rotation, where it does so for the test.

use crate::messages::HEAD;
use std::path::Path;
use std::process::Command;
use testkit::{Lab, Penstock, skip, wait_until};

/// Has the kernel write to a file, runs a command that many times, waits for its records, which come a little
/// later, and prints the numbers of its processes.
const ACCOUNT: &str = r#"
import ctypes, os, struct, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
if libc.acct(sys.argv[1].encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
children = [subprocess.Popen([sys.argv[2]]) for _ in range(int(sys.argv[3]))]
for child in children:
    child.wait()
missing, tries = {child.pid for child in children}, 0
while missing:
    tries += 1
    if tries > 500:
        sys.exit("the kernel writes nothing, as where less than 4 % of a disk is free (acct(5))")
    time.sleep(0.01)
    records = open(sys.argv[1], "rb").read()
    missing -= {struct.unpack_from("I", records, at + 16)[0] for at in range(0, len(records) - 63, 64)}
libc.acct(None)
print(*(child.pid for child in children), sep="\n")
"#;

/// The processes that have run, or why there is no accounting.
fn account(file: &Path, command: &Path, times: usize) -> Result<Vec<String>, String> {
    std::fs::File::options().append(true).create(true).open(file).expect("a file");
    let mut python = Command::new("python3");
    python.args(["-c", ACCOUNT]).arg(file).arg(command).arg(times.to_string());
    let output = python.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

#[test]
fn processes_that_the_kernel_accounts_for() {
    let lab = Lab::new();
    let (file, command) = (lab.path("acct"), lab.path("penstock-pacct"));
    std::fs::copy("/bin/true", &command).expect("a copy");
    let first = match account(&file, &command, 3) {
        Ok(first) => first,
        Err(why) => return skip(&format!("no process accounting: {why}")),
    };
    let config = format!(
        "{HEAD}source s {{ pacct(file(\"{}\") follow-freq(0.1)); }};\n\
         filter own {{ \"${{.pacct.ac_comm}}\" eq \"penstock-pacct\" }};\n\
         destination f {{ file(\"%dir%/out\" template(\"${{.pacct.ac_pid}}|${{.pacct.ac_uid}}|${{.pacct.ac_exitcode}}\\n\")); }};\n\
         log {{ source(s); filter(own); destination(f); flags(flow-control); }};\n",
        file.display()
    );
    let uid = nix::unistd::getuid();
    let lines =
        |pids: &[String]| -> Vec<String> { pids.iter().map(|pid| format!("{pid}|{uid}|0")).collect() };
    let mut expected = lines(&first);
    let penstock = Penstock::start(&lab, &config);
    wait_until("what was there", || lab.lines("out").len() >= 3);
    expected.extend(lines(&account(&file, &command, 2).expect("it worked before")));
    wait_until("what came since", || lab.lines("out").len() >= 5);
    // What is written while nobody reads, and to a file in its place.
    drop(penstock);
    expected.extend(lines(&account(&file, &command, 1).expect("it worked before")));
    let penstock = Penstock::start(&lab, &config);
    wait_until("what came meanwhile", || lab.lines("out").len() >= 6);
    std::fs::rename(&file, lab.path("acct.1")).expect("renamed");
    expected.extend(lines(&account(&file, &command, 1).expect("it worked before")));
    wait_until("what is in the next file", || lab.lines("out").len() >= 7);
    // Those that ran at the same time end in any order.
    let mut found = lab.lines("out");
    found[..5].sort_unstable();
    expected[..5].sort_unstable();
    assert_eq!(found, expected);
    penstock.ledger().assert_balanced();
}
