//! Files whose paths lead elsewhere than they did: folders with other names, links that are pointed
//! elsewhere, file systems that are mounted over them. No notification of the kernel says any of that.

use crate::messages::{HEAD, assert_complete, message};
use std::fs::{create_dir_all, rename};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use testkit::{Lab, Penstock};

const EACH: usize = 10;

fn config(source: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// What a file has after so many steps.
fn write(path: &Path, step: usize) {
    let text: String = (step * EACH..(step + 1) * EACH).map(|n| message(0, n) + "\n").collect();
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("open");
    std::io::Write::write_all(&mut file, text.as_bytes()).expect("write");
}

/// Each step moves something and writes; what it wrote has to come before the next one.
fn follows(lab: &Lab, source: &str, steps: &mut dyn FnMut(usize) -> bool) {
    assert!(steps(0));
    let mut penstock = Penstock::start(lab, &config(source));
    penstock.wait_settled(EACH as u64);
    let mut count = 1;
    while steps(count) {
        count += 1;
        penstock.wait_settled((count * EACH) as u64);
    }
    penstock.ledger().assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), 1, count * EACH);
}

fn folders(source: &str) {
    let lab = Lab::new();
    let (above, folder) = (lab.path("above"), lab.path("above/folder"));
    follows(&lab, source, &mut |step| {
        match step {
            0 => create_dir_all(&folder).expect("folder"),
            // The folder itself, and the one above it.
            1 => rename(&folder, lab.path("above/old")).expect("rename"),
            2 => rename(&above, lab.path("old")).expect("rename"),
            // Whoever reads the file keeps the folder, of which nobody is told that it is gone.
            3 => std::fs::remove_dir_all(&above).expect("remove"),
            4 => {}
            _ => return false,
        }
        create_dir_all(&folder).expect("folder");
        write(&folder.join("a.log"), step);
        true
    });
}

#[test]
fn a_folder_gets_another_name_and_is_made_anew() {
    folders("file(\"%dir%/above/folder/a.log\");");
    folders("wildcard-file(base-dir(\"%dir%/above/folder\") filename-pattern(\"*.log\"));");
}

#[test]
fn links_are_pointed_elsewhere() {
    for source in
        ["file(\"%dir%/link/a.log\");", "wildcard-file(base-dir(\"%dir%/link\") filename-pattern(\"*\"));"]
    {
        let lab = Lab::new();
        follows(&lab, source, &mut |step| {
            if step == 3 {
                return false;
            }
            let folder = lab.path(&format!("folder{step}"));
            create_dir_all(&folder).expect("folder");
            write(&folder.join("a.log"), step);
            symlink(&folder, lab.path("fresh")).expect("link");
            rename(lab.path("fresh"), lab.path("link")).expect("rename");
            true
        });
    }
}

#[test]
fn the_file_that_a_link_leads_to_is_rotated() {
    for source in [
        "file(\"%dir%/links/a.log\");",
        "wildcard-file(base-dir(\"%dir%/links\") filename-pattern(\"*.log\"));",
    ] {
        let lab = Lab::new();
        create_dir_all(lab.path("links")).expect("folder");
        create_dir_all(lab.path("files")).expect("folder");
        let (link, file) = (lab.path("links/a.log"), lab.path("files/0.log"));
        symlink("../files/0.log", &link).expect("link");
        follows(&lab, source, &mut |step| {
            match step {
                // As a kubelet does, and with some time between the two.
                1 => rename(&file, lab.path("files/0.log.1")).expect("rename"),
                3 => {
                    rename(&file, lab.path("files/0.log.2")).expect("rename");
                    std::thread::sleep(std::time::Duration::from_millis(1500));
                }
                5 => return false,
                _ => {}
            }
            write(&file, step);
            true
        });
    }
}

/// Unmounted when dropped.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_file_system_is_mounted_over_the_folder() {
    let lab = Lab::new();
    let folder = lab.path("folder");
    create_dir_all(&folder).expect("folder");
    let mounted = Mounted(&folder);
    let mount = || Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(&folder).status();
    if !mount().is_ok_and(|status| status.success()) {
        return testkit::skip("cannot mount here");
    }
    drop(mounted);
    let _mounted = Mounted(&folder);
    let source = "wildcard-file(base-dir(\"%dir%/folder\") filename-pattern(\"*.log\") recursive(yes));";
    follows(&lab, source, &mut |step| {
        if step == 3 {
            return false;
        }
        // The numbers of files begin anew with each of them.
        if step > 0 {
            assert!(mount().is_ok_and(|status| status.success()));
        }
        write(&folder.join("a.log"), step);
        true
    });
    for _ in 0..2 {
        drop(Mounted(&folder));
    }
}
