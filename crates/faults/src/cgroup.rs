//! A control group that bounds the memory of what runs in it: of version 2, or 1 where the machine has that.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";

/// Removed when dropped; what ran in it has to have ended by then.
pub struct Group {
    folder: PathBuf,
    is_second: bool,
}

impl Group {
    /// The error says why there can be none.
    pub fn new(bytes: u64) -> Result<Group, String> {
        let (top, is_second) = top()?;
        let folder = top.join(format!("penstock-faults-{}", std::process::id()));
        fs::create_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let group = Group { folder, is_second };
        group.set(if is_second { "memory.max" } else { "memory.limit_in_bytes" }, &bytes.to_string())?;
        // Without swap, if there is any: then memory is what is bounded.
        let (swap, most) = if is_second {
            ("memory.swap.max", "0".to_owned())
        } else {
            ("memory.memsw.limit_in_bytes", bytes.to_string())
        };
        if group.folder.join(swap).exists() {
            group.set(swap, &most)?;
        }
        Ok(group)
    }

    /// A command that enters the group and becomes the one whose words follow.
    pub fn enter(&self) -> [String; 4] {
        let script = format!("echo $$ > '{}/cgroup.procs' && exec \"$@\"", self.folder.display());
        ["sh".to_owned(), "-c".to_owned(), script, "sh".to_owned()]
    }

    /// The most bytes it had, with the pages of files the kernel keeps for it.
    pub fn peak(&self) -> u64 {
        let names = ["memory.peak", "memory.max_usage_in_bytes"];
        self.text(names[usize::from(!self.is_second)]).trim().parse().unwrap_or(0)
    }

    /// Bytes that are no pages of files, now.
    pub fn anonymous(&self) -> u64 {
        value(&self.text("memory.stat"), if self.is_second { "anon" } else { "total_rss" })
    }

    /// Processes killed because there was no memory left.
    pub fn kills(&self) -> u64 {
        value(&self.text(if self.is_second { "memory.events" } else { "memory.oom_control" }), "oom_kill")
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    fn set(&self, name: &str, value: &str) -> Result<(), String> {
        let path = self.folder.join(name);
        fs::write(&path, value).map_err(|e| format!("{}: {e}", path.display()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// The number behind a name, each line having one.
fn value(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// The folder groups that bound memory are made in, and whether it is of version 2.
fn top() -> Result<(PathBuf, bool), String> {
    let second = Path::new(ROOT);
    let has_memory = |name: &str| {
        fs::read_to_string(second.join(name))
            .is_ok_and(|names| names.split_whitespace().any(|n| n == "memory"))
    };
    if has_memory("cgroup.controllers") {
        let switch = second.join("cgroup.subtree_control");
        if !has_memory("cgroup.subtree_control") {
            fs::write(&switch, "+memory").map_err(|e| format!("{}: {e}", switch.display()))?;
        }
        return Ok((second.to_owned(), true));
    }
    let mounts = fs::read_to_string("/proc/mounts").map_err(|e| e.to_string())?;
    let first = mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (folder, kind, options) = (words.next()?, words.next()?, words.next()?);
        (kind == "cgroup" && options.split(',').any(|option| option == "memory")).then_some(folder)
    });
    let folder = first.ok_or("there are no control groups for memory")?;
    Ok((PathBuf::from(folder), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_name() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!((value(text, "oom_kill"), value(text, "under_oom"), value(text, "oom")), (3, 0, 0));
    }
}
