//! The rules of the house, run on the checkout.

use std::sync::OnceLock;
use xtask::{dependencies, fuzz, layers, leaves, licences, limits, sources, workspace::Workspace};

fn check(faults: fn(&Workspace) -> Vec<String>) {
    static WORKSPACE: OnceLock<Workspace> = OnceLock::new();
    let workspace = WORKSPACE.get_or_init(|| Workspace::load().expect("cargo metadata"));
    let faults = faults(workspace);
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn arrows_point_down() {
    check(layers::faults);
}

#[test]
fn drivers_are_leaves() {
    check(leaves::faults);
}

#[test]
fn files_are_short_and_say_what_they_are() {
    check(sources::faults);
}

#[test]
fn dependencies_have_reasons() {
    check(dependencies::faults);
}

#[test]
fn licences_are_on_the_list() {
    check(licences::faults);
}

#[test]
fn bounds_are_as_described() {
    check(limits::faults);
}

#[test]
fn fuzz_targets_are_in_step() {
    check(fuzz::faults);
}
