//! Estates: `penstock plan` prints its arithmetic, and the configurations of the examples are ones that run.

use serde_json::Value;
use std::path::PathBuf;
use testkit::penstock::{binary, root, run_as};
use testkit::{Lab, run_command};

fn planned(args: &[&str]) -> Value {
    let outcome = run_command(&[&["plan", "--json"], args].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    serde_json::from_str(&outcome.stdout).expect("JSON")
}

fn value(plan: &Value, name: &str) -> f64 {
    let steps = plan["steps"].as_array().expect("steps");
    let step = steps.iter().find(|step| step["name"] == name).expect(name);
    step["value"].as_f64().expect("a number")
}

#[test]
fn a_plan_can_be_followed_by_hand() {
    let plan = planned(&["--rate", "2M/s", "--size", "400", "--retention", "7d", "--target", "opensearch"]);
    assert_eq!((plan["version"].as_u64(), value(&plan, "in")), (Some(1), 800.0));
    // 800 MB/s for 604,800 seconds, three times.
    assert!((value(&plan, "disks of brokers") - 1451.52).abs() < 1e-6, "{plan}");
    // Each figure says what it stands on.
    let figures = plan["steps"].as_array().expect("steps").iter();
    let figures: Vec<&Value> =
        figures.flat_map(|step| step["figures"].as_array().expect("figures")).collect();
    assert!(figures.len() >= 5, "{plan}");
    assert!(
        figures.iter().all(|figure| figure["stands_on"].as_str().is_some_and(|text| text.contains("docs/")))
    );
    // Compressed to a quarter, the brokers' disks are a quarter.
    let packed = planned(&["--rate", "2M", "--compression", "4", "--target", "s3", "--core-price", "10"]);
    assert!((value(&packed, "disks of brokers") - 1451.52 / 4.0).abs() < 1e-6, "{packed}");
    assert!(packed["cost_a_month"].as_f64().is_some_and(|cost| cost > 0.0) && plan["cost_a_month"].is_null());
}

/// The page's table of five rates, cell by cell.
#[test]
fn the_page_has_what_the_plan_says() {
    let page = std::fs::read_to_string(root().join("docs/estate.md")).expect("the page");
    let rates = [
        ("10,000", "10k"),
        ("100,000", "100k"),
        ("1 million", "1M"),
        ("10 million", "10M"),
        ("100 million", "100M"),
    ];
    let prices = ["--core-price", "15", "--terabyte-price", "25"];
    for (written, rate) in rates {
        let row = page.lines().find(|line| line.starts_with(&format!("| {written} |"))).expect(written);
        let cells: Vec<f64> =
            row.split('|').skip(2).filter_map(|cell| cell.trim().replace(',', "").parse().ok()).collect();
        let plan = [&["--rate", rate, "--target", "opensearch", "--compression", "4"][..], &prices].concat();
        let plan = planned(&plan);
        let member = |name: &str| plan[name].as_f64().expect(name);
        let expected = [
            value(&plan, "in"),
            member("edges"),
            member("brokers"),
            member("partitions"),
            member("kafka_terabytes"),
            value(&plan, "network of brokers"),
            member("workers"),
            member("store_cores"),
            member("cost_a_month"),
        ];
        // A cell is rounded.
        let is_same = |(cell, expected): (&f64, f64)| (cell - expected).abs() <= 0.5_f64.min(expected / 50.0);
        assert_eq!(cells.len(), expected.len(), "{row}");
        assert!(cells.iter().zip(expected).all(is_same), "{row}: {expected:?}");
    }
}

#[test]
fn a_plan_as_text_ends_with_the_machines() {
    let outcome = run_command(&["plan", "--rate", "10000", "--target", "postgresql"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for text in
        ["2 edges, 3 brokers with ", "2 workers", "note: below 100k messages/s", "us of CPU a message"]
    {
        assert!(outcome.stdout.contains(text), "{text}:\n{}", outcome.stdout);
    }
    for wrong in [
        &["plan", "--rate", "2M/s"][..],
        &["plan", "--rate", "fast", "--target", "s3"],
        &["plan", "--rate", "1M", "--target", "tape"],
        &["plan", "--rate", "1M", "--target", "s3", "--retention", "7"],
        &["plan", "--rate", "1M", "--target", "s3", "--compression", "0.5"],
    ] {
        let outcome = run_command(wrong);
        assert_eq!(outcome.code, Some(2), "{wrong:?}: {outcome:?}");
    }
}

fn examples() -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root().join("examples"), root().join("packaging")]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("a file").path()) {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "conf" => files.push(path),
                _ => {}
            }
        }
    }
    files
}

/// Files of certificates that are not on this machine are no fault of the text.
#[test]
fn every_example_is_taken() {
    let lab = Lab::new();
    let link = lab.path("syslog-ng");
    std::os::unix::fs::symlink(binary(), &link).expect("a link");
    let (mut looked_at, mut wrong) = (0, String::new());
    for path in examples() {
        let outcome = run_as(&link, &["--syntax-only", "--cfgfile", &path.display().to_string()]);
        let errors = outcome.stderr.lines().filter(|line| line.contains(": error["));
        let errors = errors.filter(|line| !line.contains("No such file or directory"));
        errors.for_each(|line| wrong.push_str(&format!("{line}\n")));
        looked_at += 1;
    }
    assert!(wrong.is_empty() && looked_at >= 9, "{looked_at} looked at\n{wrong}");
}
