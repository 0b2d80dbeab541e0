//! What of the machine the program takes: descriptors, cores, memory.

use std::path::Path;

use rustix::process::{Resource, getrlimit, setrlimit};

/// Workers even on one core: while one writes to a disk the other reads.
const WORKERS_MIN: usize = 2;
const WORKERS_MAX: usize = 256;
/// Below this no machine is small enough to go.
const MEMORY_MIN: u64 = 32 << 20;
/// Assumed when the system does not say what it has.
const MEMORY_ASSUMED: u64 = 1 << 30;

/// Raises the limit of open files to what the system allows, or sets the one asked for.
pub fn raise(files: Option<u64>, core: bool) {
    let mut limit = getrlimit(Resource::Nofile);
    match files {
        None => limit.current = limit.maximum,
        Some(files) => {
            limit.current = Some(files);
            // More than the hard limit is for the privileged only.
            limit.maximum = limit.maximum.map(|max| max.max(files));
        }
    }
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        oplog::warning("Cannot set the limit of open files", &[("error", &error)]);
    }
    if core {
        let mut limit = getrlimit(Resource::Core);
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Core, limit) {
            oplog::warning("Cannot allow core dumps", &[("error", &error)]);
        }
    }
}

/// As many as cores this process may use.
pub fn workers() -> usize {
    std::thread::available_parallelism().map_or(WORKERS_MIN, usize::from).clamp(WORKERS_MIN, WORKERS_MAX)
}

/// Bytes of messages under way at most: a quarter of what the machine, or the container, has.
pub fn memory_max() -> usize {
    let limits = [machine(), container(Path::new("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"))];
    let total = limits.into_iter().flatten().min().unwrap_or(MEMORY_ASSUMED);
    usize::try_from((total / 4).max(MEMORY_MIN)).unwrap_or(usize::MAX)
}

fn machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// The smallest limit of the control groups this process is in, of either version.
fn container(own: &Path, root: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(own).ok()?;
    let mut smallest = None;
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (base, file) = match controllers {
            "" => (root.to_path_buf(), "memory.max"),
            c if c.split(',').any(|c| c == "memory") => (root.join("memory"), "memory.limit_in_bytes"),
            _ => continue,
        };
        // A group's limit holds for all groups inside it. In a container the path may be that of the outside.
        let inside = Path::new(path.trim_start_matches('/'));
        for group in inside.ancestors() {
            let limit = std::fs::read_to_string(base.join(group).join(file)).ok();
            let limit: Option<u64> = limit.and_then(|text| text.trim().parse().ok());
            smallest = [smallest, limit].into_iter().flatten().min();
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(own: &str, files: &[(&str, &str)], expected: Option<u64>) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::write(folder.path().join("own"), own).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        assert_eq!(container(&folder.path().join("own"), &root), expected, "{own}");
    }

    #[test]
    fn limits_of_control_groups() {
        check("0::/a/b\n", &[("a/memory.max", "1000\n"), ("a/b/memory.max", "max\n")], Some(1000));
        check("0::/a\n", &[("a/memory.max", "max\n")], None);
        check("0::/\n", &[("memory.max", "77\n")], Some(77));
        let old = "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n";
        check(old, &[("memory/x/memory.limit_in_bytes", "5\n"), ("x/memory.max", "1")], Some(5));
        check("nonsense\n", &[], None);
    }

    #[test]
    fn something_sensible_here() {
        assert!(memory_max() as u64 >= MEMORY_MIN);
        assert!((WORKERS_MIN..=WORKERS_MAX).contains(&workers()));
    }
}
