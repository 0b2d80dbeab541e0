//! Capabilities by name, and in the notation of cap_from_text(3), in which `--caps` takes them.

use diag::Fault;
use rustix::thread::CapabilitySet;

/// By the kernel's numbers.
const NAMES: [&str; 41] = [
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
];

/// Every capability there is a name for, one by one.
pub fn each() -> impl Iterator<Item = (&'static str, CapabilitySet)> {
    NAMES.iter().enumerate().map(|(number, name)| (*name, CapabilitySet::from_bits_retain(1 << number)))
}

/// `cap_chown,cap_syslog`; `none` for the empty set.
pub fn names(set: CapabilitySet) -> String {
    let names: Vec<String> =
        each().filter(|(_, one)| set.contains(*one)).map(|(name, _)| format!("cap_{name}")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(",") }
}

/// What a text asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Permitted, and by that effective: nothing is raised for a moment only.
    pub kept: CapabilitySet,
    /// Those of them that the text has by their own names, not as `all`.
    pub named: CapabilitySet,
}

/// Reads clauses such as `cap_net_bind_service,cap_chown=p cap_syslog=ep`.
pub fn parse(text: &str) -> Result<Asked, Fault> {
    let nothing = CapabilitySet::empty();
    let (mut effective, mut permitted, mut inheritable, mut named) = (nothing, nothing, nothing, nothing);
    for clause in text.split_whitespace() {
        let wrong =
            || Fault::misconfigured(format!("--caps: `{clause}` is not of the form cap_one,cap_two=ep"));
        let at = clause.find(['=', '+', '-']).ok_or_else(wrong)?;
        let (list, mut actions) = clause.split_at(at);
        let (set, own) = listed(list)?;
        if own {
            named |= set;
        }
        // Only `=` may stand without a list: it means all.
        if list.is_empty() && !actions.starts_with('=') {
            return Err(wrong());
        }
        while let Some(action) = actions.chars().next() {
            let rest = actions.get(1..).unwrap_or_default();
            let end = rest.find(['=', '+', '-']).unwrap_or(rest.len());
            let (flags, next) = rest.split_at(end);
            actions = next;
            if action == '=' {
                effective -= set;
                permitted -= set;
                inheritable -= set;
            }
            for flag in flags.chars() {
                let into = match flag {
                    'e' => &mut effective,
                    'p' => &mut permitted,
                    'i' => &mut inheritable,
                    _ => return Err(wrong()),
                };
                into.set(set, action != '-');
            }
        }
    }
    if !inheritable.is_empty() {
        return Err(Fault::misconfigured(format!(
            "--caps: {} cannot be inheritable (i): programs that are started get no capabilities; leave the i out, or use --no-caps",
            names(inheritable)
        )));
    }
    if !permitted.contains(effective) {
        return Err(Fault::misconfigured(format!(
            "--caps: {} cannot be effective (e) without being permitted (p)",
            names(effective - permitted)
        )));
    }
    Ok(Asked { kept: permitted, named: named & permitted })
}

/// The set of a list, and whether it names them one by one.
fn listed(list: &str) -> Result<(CapabilitySet, bool), Fault> {
    if list.is_empty() || list.eq_ignore_ascii_case("all") {
        return Ok((each().fold(CapabilitySet::empty(), |all, (_, one)| all | one), false));
    }
    let mut set = CapabilitySet::empty();
    for name in list.split(',') {
        let lower = name.to_ascii_lowercase();
        let bare = lower.strip_prefix("cap_");
        let found = each()
            .find(|(known, one)| bare == Some(*known) || name.parse() == Ok(one.bits().trailing_zeros()));
        let (_, one) =
            found.ok_or_else(|| Fault::misconfigured(format!("--caps: there is no capability `{name}`")))?;
        set |= one;
    }
    Ok((set, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let said = match parse(text) {
            Ok(asked) => names(asked.kept),
            Err(fault) => fault.into(),
        };
        assert!(said.contains(expected) && (expected != "none" || said == "none"), "{text}: {said}");
    }

    #[test]
    fn texts_are_read_as_the_library_reads_them() {
        check("cap_net_bind_service,cap_chown=p cap_syslog=ep", "cap_chown,cap_net_bind_service,cap_syslog");
        check("CAP_SYSLOG+ep", "cap_syslog");
        check("34=p", "cap_syslog");
        check("", "none");
        check("=", "none");
        check("all=ep all-ep cap_kill+p", "cap_kill");
        check("=p cap_kill-p cap_bpf=", "cap_sys_admin");
        check("cap_kill=pe-e", "cap_kill");
        check("all=p", "cap_checkpoint_restore");
    }

    #[test]
    fn what_cannot_be_obeyed_is_refused() {
        check("cap_kill", "is not of the form");
        check("cap_kill+x", "is not of the form");
        check("+p", "is not of the form");
        check("cap_nothing=p", "there is no capability `cap_nothing`");
        check("kill=p", "there is no capability `kill`");
        check("cap_kill,=p", "there is no capability ``");
        check("cap_kill=eip", "cannot be inheritable");
        check("cap_kill=e", "without being permitted");
    }
}
