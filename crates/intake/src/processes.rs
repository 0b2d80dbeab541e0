//! What is known of a process that sends over a unix socket.

use record::{NameId, intern};

/// `.unix.pid`, `.unix.uid`, `.unix.gid`, `.unix.cmdline` and `.unix.exe` of a process.
pub fn process_values(pid: i32, uid: u32, gid: u32) -> Vec<(NameId, Box<[u8]>)> {
    let mut values = Vec::new();
    let mut add = |name: &str, value: Vec<u8>| {
        if let Some(id) = intern(name) {
            values.push((id, value.into_boxed_slice()));
        }
    };
    add(".unix.pid", pid.to_string().into_bytes());
    add(".unix.uid", uid.to_string().into_bytes());
    add(".unix.gid", gid.to_string().into_bytes());
    if let Ok(mut line) = std::fs::read(format!("/proc/{pid}/cmdline")) {
        while line.last() == Some(&0) {
            line.pop();
        }
        line.iter_mut().filter(|b| **b == 0).for_each(|b| *b = b' ');
        add(".unix.cmdline", line);
    }
    if let Ok(path) = std::fs::read_link(format!("/proc/{pid}/exe")) {
        add(".unix.exe", path.into_os_string().into_encoded_bytes());
    }
    values
}
