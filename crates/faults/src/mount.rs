//! A small ext4 file system of its own, in an image behind a loop device: it can be full, and lose its power.

use rustix::ioctl::{Setter, ioctl, opcode};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub struct Mount {
    image: PathBuf,
    folder: PathBuf,
}

/// `EXT4_IOC_SHUTDOWN` of the kernel's ext4.h: the file system stops at once.
const SHUTDOWN: rustix::ioctl::Opcode = opcode::read::<u32>(b'X', 125);
/// What the journal holds in memory is lost, as when the power goes.
const NO_LOG_FLUSH: u32 = 2;

impl Mount {
    /// The error says what is missing here.
    pub fn new(folder: &Path, mebibytes: u64) -> Result<Mount, String> {
        Mount::made(folder, mebibytes, &[])
    }

    /// With more words for mkfs.
    pub fn made(folder: &Path, mebibytes: u64, words: &[&str]) -> Result<Mount, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root may mount".to_owned());
        }
        let (image, mounted) = (folder.join("disk.img"), folder.join("disk"));
        let file = File::create(&image).map_err(|e| e.to_string())?;
        file.set_len(mebibytes << 20).map_err(|e| e.to_string())?;
        std::fs::create_dir_all(&mounted).map_err(|e| e.to_string())?;
        let path = text(&image);
        run("mkfs.ext4", &[&["-q", "-F"], words, &[&path]].concat())?;
        let mount = Mount { image, folder: mounted };
        mount.mount("loop")?;
        Ok(mount)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Nothing that was not synced is there any more; every call on it fails until it is mounted again.
    #[allow(unsafe_code)]
    pub fn lose_power(&self) {
        let folder = File::open(&self.folder).expect("the mounted folder opens");
        // SAFETY: the command takes a pointer to a number of 32 bits, which the setter holds.
        let done = unsafe { ioctl(&folder, Setter::<SHUTDOWN, u32>::new(NO_LOG_FLUSH)) };
        done.expect("the file system can be shut down");
    }

    /// The power is back: the journal is replayed.
    pub fn restore(&self) -> Result<(), String> {
        run("umount", &[&text(&self.folder)])?;
        self.mount("loop")
    }

    pub fn read_only(&self, read_only: bool) -> Result<(), String> {
        run("mount", &["-o", if read_only { "remount,ro" } else { "remount,rw" }, &text(&self.folder)])
    }

    fn mount(&self, options: &str) -> Result<(), String> {
        run("mount", &["-t", "ext4", "-o", options, &text(&self.image), &text(&self.folder)])
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // A process that still has something open there keeps it until it ends.
        let _ = run("umount", &["-l", &text(&self.folder)]);
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub fn run(program: &str, args: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{program}: {error}")),
    }
}
