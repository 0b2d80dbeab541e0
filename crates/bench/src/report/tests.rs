use super::*;
use crate::cases::CASES;
use crate::receiver::Receiver;
use crate::results::Run;

fn results() -> Results {
    let run = |receiver, cpu_ns| Run {
        case: "tcp-1",
        receiver,
        round: 1,
        connections: 1,
        sent: 1000,
        lines: 1000,
        cpu_ns,
        seconds: 0.5,
        rss_peak: 4 << 20,
        ..Run::default()
    };
    let mut failed = run(Receiver::Rsyslog, 0);
    failed.failure = Some("did not, \"listen\"".into());
    Results { runs: vec![run(Receiver::Floor, 200_000), run(Receiver::Penstock, 300_000), failed] }
}

fn with_story(check: impl Fn(&Story)) {
    let cases: Vec<_> = CASES.iter().filter(|case| case.name == "tcp-1").collect();
    let results = results();
    let judgements: Vec<_> = cases[0].aims.iter().map(|aim| aim.judge("tcp-1", &results)).collect();
    check(&Story {
        cases: &cases,
        results: &results,
        judgements: &judgements,
        rounds: 1,
        machine: "a machine".into(),
    });
}

#[test]
fn csv_has_every_run() {
    with_story(|story| {
        let text = csv::text(story);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        let columns = lines[0].split(',').count();
        assert_eq!(lines[1].split(',').count(), columns);
        assert!(lines[1].starts_with("tcp-1,floor,1,1,1000,1000,0.500,2000,0.2000,"));
        assert!(lines[3].ends_with(",\"did not, \"\"listen\"\"\""));
    });
}

#[test]
fn markdown_shows_multiples_failures_and_aims() {
    with_story(|story| {
        let text = markdown::text(story);
        assert!(text.contains("| tcp-1 | penstock | 0.300 | 1.50 | 2000 | 4.0 | all |"), "{text}");
        assert!(text.contains("failed: did not"), "{text}");
        assert!(text.contains("| 1.50 times | met |"), "{text}");
        assert!(text.contains("| not measured | - |"), "{text}");
    });
}

#[test]
fn chart_is_svg_with_a_bar_for_each_measured_receiver() {
    with_story(|story| {
        let svg = chart::text(story).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("tcp-1") && svg.contains("(1.5x)"), "{svg}");
    });
}

#[test]
fn an_empty_run_still_reports() {
    let story =
        Story { cases: &[], results: &Results::default(), judgements: &[], rounds: 1, machine: machine() };
    let folder = tempfile::tempdir().unwrap();
    story.write(folder.path()).unwrap();
    assert!(folder.path().join("bench.svg").exists());
}
