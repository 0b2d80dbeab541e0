//! Tests of the replies, on a subject made of plain values.

use super::*;
use crate::subject::fake::Fake;

fn reply(fake: &Fake, line: &str) -> String {
    answer(&Request::parse(line).expect(line), fake)
}

#[test]
fn statistics_in_each_form() {
    let fake = Fake::default();
    let csv = reply(&fake, "STATS");
    assert!(csv.starts_with("SourceName;SourceId;SourceInstance;State;Type;Number\n"), "{csv}");
    assert!(csv.contains("dst.file;d_f#0;/l/x;a;written;7\n"), "{csv}");
    assert!(csv.contains(";o;processed;3\n"), "{csv}");
    assert!(!reply(&fake, "STATS CSV WITHOUT_ORPHANED WITHOUT_HEADER").contains(";o;"));
    assert!(!reply(&fake, "STATS WITHOUT_HEADER").contains("SourceName"));
    assert_eq!(
        reply(&fake, "STATS PROMETHEUS"),
        "syslogng_output_events_total{id=\"d_f#0\",result=\"delivered\"} 7\n"
    );
    assert_eq!(reply(&fake, "STATS PROMETHEUS WITH_LEGACY").lines().count(), 3);
    assert!(reply(&fake, "STATS KV").contains("dst.file.d_f#0./l/x.written=7\n"));
}

#[test]
fn queries_select_sum_and_reset_only_what_was_selected() {
    let fake = Fake::default();
    assert_eq!(reply(&fake, "QUERY LIST center*"), "center.received.processed\n");
    assert_eq!(reply(&fake, "QUERY GET center*"), "center.received.processed=5\n");
    assert_eq!(reply(&fake, "QUERY GET_SUM *"), "15\n");
    assert_eq!(reply(&fake, "QUERY GET nothing"), "");
    assert_eq!(
        reply(&fake, "QUERY GET_SUM_RESET center*"),
        "5\n\nThe selected counters have been reset to 0.\n"
    );
    assert_eq!(reply(&fake, "QUERY GET_SUM *"), "10\n");
    reply(&fake, "RESET_STATS");
    assert_eq!(reply(&fake, "QUERY GET_SUM *"), "0\n");
}

#[test]
fn orphans_go_on_request() {
    let fake = Fake::default();
    assert_eq!(reply(&fake, "REMOVE_ORPHANED_STATS"), "OK Orphaned statistics have been removed.");
    assert!(!reply(&fake, "STATS").contains(";o;"));
}

#[test]
fn old_switches_move_the_one_level() {
    let fake = Fake::default();
    assert_eq!(reply(&fake, "LOG VERBOSE"), "OK VERBOSE=0");
    assert_eq!(reply(&fake, "LOG DEBUG ON"), "OK DEBUG=1");
    assert_eq!(reply(&fake, "LOG VERBOSE"), "OK VERBOSE=1");
    assert_eq!(reply(&fake, "LOG VERBOSE ON"), "OK VERBOSE=1");
    assert_eq!(reply(&fake, "LOG LEVEL"), "OK debug");
    assert_eq!(reply(&fake, "LOG DEBUG OFF"), "OK DEBUG=0");
    assert_eq!(reply(&fake, "LOG LEVEL"), "OK verbose");
    assert_eq!(reply(&fake, "LOG TRACE OFF"), "OK TRACE=0");
    assert_eq!(reply(&fake, "LOG LEVEL"), "OK verbose");
    assert_eq!(reply(&fake, "LOG LEVEL trace"), "OK trace");
}

#[test]
fn configuration_and_files() {
    let fake = Fake::default();
    assert_eq!(reply(&fake, "CONFIG GET ORIGINAL"), "@version: 4.11\n.\nlog {};\n");
    assert_eq!(reply(&fake, "CONFIG VERIFY"), "OK matches");
    assert_eq!(reply(&fake, "CONFIG GET PREPROCESSED"), "FAIL not kept");
    assert_eq!(reply(&fake, "LISTFILES"), "OK No files available");
}

#[test]
fn health_lists_complaints_then_numbers() {
    let mut fake = Fake::default();
    fake.health.metrics.push(("syslogng_io_worker_latency_seconds".into(), 0.000198));
    assert_eq!(reply(&fake, "HEALTHCHECK"), "OK syslogng_io_worker_latency_seconds 0.000198\n");
    fake.health.complaints.push("worker 1 does not answer".into());
    assert_eq!(
        reply(&fake, "HEALTHCHECK"),
        "FAIL worker 1 does not answer\nsyslogng_io_worker_latency_seconds 0.000198\n"
    );
}

#[test]
fn what_is_not_there_says_so() {
    let fake = Fake::default();
    assert!(reply(&fake, "ATTACH").starts_with("FAIL attach is not available"));
    assert_eq!(reply(&fake, "PWD status"), "OK Secret store status:\n/key.pem\tPENDING");
    assert_eq!(reply(&fake, "PWD add /key.pem good one"), "OK /key.pem good one");
}

#[test]
fn licence_and_ledger() {
    let fake = Fake::default();
    assert_eq!(reply(&fake, "LICENSE"), "OK Apache-2.0");
    assert_eq!(reply(&fake, "LICENSE JSON"), "{\"license\":\"Apache-2.0\"}");
    assert!(reply(&fake, "LEDGER").ends_with("accounted for\n"));
    assert!(crate::Ledger::from_json(&reply(&fake, "LEDGER JSON")).is_ok());
}
