use super::*;
use crate::action::Action;
use flight::Verdict;

/// Verdicts as letters; the outcome's kind where there are none.
fn shown(judge: Judge, status: u16, body: &str, messages: usize) -> String {
    match judge.outcome(&Answer::of(status, body), &Actions::default(), messages) {
        Outcome::Judged { verdicts, .. } => verdicts
            .iter()
            .map(|verdict| match verdict {
                Verdict::Delivered => '+',
                Verdict::Refused(_) => '-',
                Verdict::Again => '<',
                Verdict::Hold(_) => '|',
            })
            .collect(),
        other => format!("{other:?}").split([' ', '(', '{']).next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn elasticsearch_judges_each_item() {
    let check =
        |status, body, expected| assert_eq!(shown(Judge::Elasticsearch, status, body, 4), expected, "{body}");
    check(200, r#"{"took":3,"errors":false,"items":[]}"#, "Delivered");
    check(200, r#"{"errors" : false}"#, "Delivered");
    let items = r#"{"errors":true,"items":[{"create":{"status":409}},{"index":{"status":409,"error":{"type":"x","reason":"y"}}},
        {"index":{"status":429,"error":{"type":"es_rejected_execution_exception"}}},{"index":{"status":201}}]}"#;
    check(200, items, "+-<+");
    check(200, r#"{"errors":true,"items":[]}"#, "Again");
    // No other server of the family says so little.
    check(200, "{}", "Hold");
    check(200, "<html>", "Hold");
    check(400, r#"{"error":{"reason":"must be terminated by a newline"}}"#, "Split");
    check(401, "", "Hold");
    check(429, "", "Again");
}

#[test]
fn elasticsearch_holds_for_the_state_of_an_index_or_a_login() {
    let item = |status: u16, kind: &str| {
        format!(r#"{{"index":{{"status":{status},"error":{{"type":"{kind}","reason":"no"}}}}}}"#)
    };
    let check = |items: [String; 2], expected| {
        let body = format!(r#"{{"errors":true,"items":[{}]}}"#, items.join(","));
        assert_eq!(shown(Judge::Elasticsearch, 200, &body, 2), expected, "{body}");
    };
    let taken = || r#"{"index":{"status":201}}"#.to_owned();
    let both = |status, kind| [item(status, kind), item(status, kind)];
    check(both(403, "cluster_block_exception"), "||");
    check(both(404, "index_not_found_exception"), "||");
    check(both(403, "security_exception"), "||");
    check(both(401, "security_exception"), "||");
    check([item(400, "mapper_parsing_exception"), item(404, "index_not_found_exception")], "-|");
    check([item(429, "es_rejected_execution_exception"), item(403, "security_exception")], "<|");
    // Where others are taken, it is the name that this message has made for its index.
    check([taken(), item(404, "index_not_found_exception")], "+-");
    check([taken(), item(403, "security_exception")], "+-");
    check([taken(), item(403, "cluster_block_exception")], "+|");
    check([taken(), item(401, "security_exception")], "+|");
}

#[test]
fn what_would_hold_is_what_the_configuration_says_of_its_status() {
    let actions = Actions(vec![(404, Action::Drop), (403, Action::Retry)]);
    let body = r#"{"errors":true,"items":[{"index":{"status":404,"error":{"type":"a","reason":"b"}}},{"index":{"status":403}},
        {"index":{"status":401}}]}"#;
    let outcome = Judge::Elasticsearch.outcome(&Answer::of(200, body), &actions, 3);
    let Outcome::Judged { verdicts, .. } = outcome else { panic!("{outcome:?}") };
    assert!(
        matches!(&verdicts[..], [Verdict::Refused(why), Verdict::Again, Verdict::Hold(_)] if &**why == "404 a: b")
    );
}

#[test]
fn elasticsearch_says_where_documents_are() {
    let places = |body: &str| Judge::Elasticsearch.places(&Answer::of(200, body));
    let body = r#"{"errors":false,"items":[{"create":{"_index":".ds-logs-1","_id":"a7","status":201}},
        {"index":{"status":400}},{"index":{"_id":7}},5]}"#;
    let first: Whereabouts = vec![("index", ".ds-logs-1".into()), ("_id", "a7".into())];
    assert_eq!(places(body), [first, vec![], vec![], vec![]]);
    assert_eq!(places("<html>"), [] as [Whereabouts; 0]);
    assert_eq!(Judge::Splunk.places(&Answer::of(200, body)), [] as [Whereabouts; 0]);
}

#[test]
fn splunk_judges_by_its_code() {
    let check =
        |status, body, expected| assert_eq!(shown(Judge::Splunk, status, body, 3), expected, "{body}");
    check(200, r#"{"text":"Success","code":0}"#, "Delivered");
    check(400, r#"{"text":"Invalid data format","code":6,"invalid-event-number":1}"#, "<-<");
    check(503, r#"{"text":"Server is busy","code":9,"invalid-event-number":0}"#, "Again");
    check(400, r#"{"code":6,"invalid-event-number":99}"#, "Split");
    check(403, r#"{"text":"Invalid token","code":4}"#, "Hold");
    check(200, "welcome", "Hold");
    check(413, "too large", "Split");
}

#[test]
fn openobserve_counts() {
    let check = |body, expected| assert_eq!(shown(Judge::OpenObserve, 200, body, 3), expected, "{body}");
    check(r#"{"code":200,"status":[{"name":"default","successful":3,"failed":0}]}"#, "Delivered");
    check(r#"{"code":200,"status":[{"name":"default","successful":2,"failed":1,"error":"x"}]}"#, "Split");
}

#[test]
fn less_is_asked_for_where_it_is_known_how() {
    let check = |judge: Judge, path: &str, expected: bool| {
        let mut url = Url::parse(&format!("http://h{path}")).expect("good");
        let mut all = url.clone();
        judge.ask_for_less(&mut url, false);
        judge.ask_for_less(&mut all, true);
        let more = if expected { elasticsearch::WHERE } else { "" };
        assert_eq!(all.path, format!("{}{more}", url.path));
        assert_eq!(url.path.ends_with("items.*.error.reason"), expected, "{path}");
        assert!(url.path.matches("filter_path").count() <= 1 && url.path.matches('?').count() <= 1);
    };
    check(Judge::Elasticsearch, "/i/_bulk", true);
    check(Judge::Elasticsearch, "/_bulk?pipeline=x", true);
    check(Judge::Elasticsearch, "/_bulk?x=1&filter_path=took", false);
    check(Judge::Elasticsearch, "/other", false);
    check(Judge::Status, "/_bulk", false);
}

#[test]
fn seeds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/http_answer");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("seeds") {
        fuzz(&std::fs::read(entry.expect("an entry").path()).expect("readable"));
        count += 1;
    }
    assert!(count >= 8, "{count} seeds");
}

#[test]
fn pubsub_gives_each_message_an_id() {
    let outcome = |status, body: &str, messages| {
        Judge::PubSub.outcome(&Answer::of(status, body), &Actions::default(), messages)
    };
    let body = r#"{"messageIds": ["17", "18"]}"#;
    assert!(matches!(outcome(200, body, 2), Outcome::Delivered));
    assert!(matches!(outcome(200, body, 3), Outcome::Unknown(why) if why.contains("2 ids for 3 messages")));
    assert!(matches!(outcome(200, "<html>", 1), Outcome::Hold(_)), "another server");
    assert!(matches!(outcome(503, "{}", 1), Outcome::Again { .. } | Outcome::Away(_)));
    let places = Judge::PubSub.places(&Answer::of(200, body));
    assert_eq!(places, [vec![("id", "17".into())], vec![("id", "18".into())]]);
}
