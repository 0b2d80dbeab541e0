//! Files, folders, ports and signals: Landlock.

use std::path::Path;

use landlock::{
    ABI, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
};

use landlock::Access as _;

use crate::{Access, Rules};

/// The newest rights that are asked for: those of Linux 6.12.
const NEWEST: ABI = ABI::V6;
/// Devices can be opened where that is allowed, never made.
const NEVER: BitFlags<AccessFs> = landlock::make_bitflags!(AccessFs::{MakeChar | MakeBlock});

/// What of the rules this kernel cannot enforce, as sentences.
pub fn confine(rules: &Rules) -> Result<Vec<String>, String> {
    let status = enforced(rules).map_err(|error| format!("Landlock cannot be put into force: {error}"))?;
    let LandlockStatus::Available { effective_abi, .. } = status else {
        return Err(
            "this kernel has no Landlock (Linux 5.13, with `landlock` in the list of `lsm=`)".to_owned()
        );
    };
    let lacks = [
        (ABI::V2, "files cannot be renamed or linked from one folder to another"),
        (ABI::V3, "files outside can be emptied by whoever could write to them (Linux 6.2)"),
        (ABI::V4, "ports of TCP are not confined (Linux 6.7)"),
        (ABI::V5, "devices outside are not kept from ioctl() (Linux 6.10)"),
        (ABI::V6, "processes outside can be sent signals (Linux 6.12)"),
    ];
    Ok(lacks
        .into_iter()
        .filter(|(since, _)| effective_abi < *since)
        .map(|(_, text)| text.to_owned())
        .collect())
}

fn enforced(rules: &Rules) -> Result<LandlockStatus, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::BindTcp)?
        .scope(Scope::Signal)?;
    if rules.connects.is_some() {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
    }
    let mut created = ruleset.create()?.set_compatibility(CompatLevel::BestEffort);
    for (path, access) in rules.paths() {
        // What cannot be opened could not be used either.
        let Ok(place) = PathFd::new(path) else { continue };
        created = created.add_rule(PathBeneath::new(place, rights(path, access)))?;
    }
    for port in &rules.listens {
        created = created.add_rule(NetPort::new(*port, AccessNet::BindTcp))?;
    }
    for port in rules.connects.iter().flatten() {
        created = created.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
    }
    Ok(created.restrict_self()?.landlock)
}

fn rights(path: &Path, access: Access) -> BitFlags<AccessFs> {
    let reads = AccessFs::from_read(NEWEST) & !BitFlags::from(AccessFs::Execute);
    let all = match access {
        Access::Read => reads,
        Access::Run => reads | AccessFs::Execute,
        Access::Write => reads | (AccessFs::from_write(NEWEST) & !NEVER),
    };
    if path.is_dir() { all } else { all & AccessFs::from_file(NEWEST) }
}
