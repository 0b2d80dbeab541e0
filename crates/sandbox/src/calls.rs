//! System calls: which ones are left, and a word in the log for each that is tried beside them.
//!
//! The filter asks a listener (`SECCOMP_RET_USER_NOTIF`), which is a thread of this process: it says who
//! tried what, also of programs that were started, and has the call fail with EPERM. An answer could let it
//! go on too, so no other thread may give one.
//!
//! `seccomp()` and the requests to its listener have no safe form. What they get are structures of this file,
//! which live until they return.
#![allow(unsafe_code)]

mod filter;
mod names;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use filter::Refusal;

/// Leaves this process the calls it uses. What of that this kernel cannot do, as sentences.
pub fn confine(starts_programs: bool) -> Result<Vec<String>, String> {
    let allowed = names::allowed(starts_programs);
    let error = |error: io::Error| format!("seccomp cannot be put into force: {error}");
    match install(&filter::program(&allowed, Refusal::Asks), libc::SECCOMP_FILTER_FLAG_NEW_LISTENER) {
        Ok(listener) => {
            // SAFETY: the kernel has just made it for this call, and nobody else knows it.
            let listener = unsafe { OwnedFd::from_raw_fd(listener) };
            let listen = move || while answer(&listener).is_ok() {};
            std::thread::Builder::new().name("sandbox".into()).spawn(listen).map_err(error)?;
            install(&filter::nobody_answers(), 0).map_err(error)?;
            Ok(Vec::new())
        }
        // Linux before 5.0, or somebody above this process listens already.
        Err(reason) if matches!(reason.raw_os_error(), Some(libc::EINVAL | libc::EBUSY)) => {
            install(&filter::program(&allowed, Refusal::Fails), 0).map_err(error)?;
            Ok(vec!["system calls that are refused are not said in the log".to_owned()])
        }
        Err(reason) => Err(error(reason)),
    }
}

fn install(program: &[libc::sock_filter], flags: libc::c_ulong) -> io::Result<i32> {
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the pointer and the length are those of a slice that outlives the call, which only reads it.
    let result = unsafe {
        // Landlock has done so already; without it the next call needs a privilege.
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
}

/// Waits for one refused call, says it, and lets it fail. An error ends the listening.
fn answer(listener: &OwnedFd) -> io::Result<()> {
    // SAFETY: plain numbers, for which zero is a value; the kernel wants it to be zero.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the request writes one such structure to where the pointer leads.
    let got = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) };
    if got < 0 {
        let error = io::Error::last_os_error();
        // Whoever asked has been killed meanwhile, or a signal came.
        return match error.raw_os_error() {
            Some(libc::ENOENT | libc::EINTR) => Ok(()),
            _ => Err(error),
        };
    }
    // While it waits for the answer it is there to be asked for its name.
    let name = std::fs::read_to_string(format!("/proc/{}/comm", asked.pid)).unwrap_or_default();
    let answer = libc::seccomp_notif_resp { id: asked.id, val: 0, error: -libc::EPERM, flags: 0 };
    // SAFETY: the request reads one such structure. Whoever waits may be gone, which is nobody's loss.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) };
    // Afterwards: whoever asked may hold what the log needs.
    say(asked.pid, name.trim_end(), i64::from(asked.data.nr));
    Ok(())
}

fn say(pid: u32, program: &str, number: i64) {
    let call = names::called(number);
    oplog::often(
        "sandbox",
        oplog::Level::Warning,
        "The sandbox has refused a system call",
        &[("call", &call), ("program", &program), ("pid", &pid)],
    );
}
