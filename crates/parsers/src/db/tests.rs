use super::*;
use crate::testing::{batch, check, check_codes, context, parser, values};
use record::tag_name;

pub const DATABASE: &str = "<patterndb version='5' pub_date='2026-01-01'>
<ruleset name='sshd' id='s'><patterns><pattern>sshd</pattern><pattern>ssh@NUMBER:version@</pattern></patterns><rules>
  <rule id='login' class='system' provider='us'>
    <patterns><pattern>Accepted @STRING:how@ for @ESTRING:user: @from @IPvANY:ip@ port @NUMBER:port@</pattern></patterns>
    <values><value name='text'>${user} by ${how}</value><value name='twice' type='int'>${port}${port}</value>
      <value name='seen'>${text}!</value></values>
    <tags><tag>login</tag></tags></rule></rules></ruleset>
<ruleset name='any' id='a'><rules>
  <rule id='hex' class='violation'><patterns><pattern>hex @NUMBER:n@ @FLOAT:f@</pattern></patterns></rule>
</rules></ruleset></patterndb>";

pub const ACTIONS: &str = "<patterndb version='5' pub_date='2026-01-01'><ruleset name='a' id='a'><rules>
  <rule id='open' class='x' context-id='${id}' context-scope='host' context-timeout='10'>
    <patterns><pattern>open @ESTRING:id: @@ESTRING:who: @</pattern></patterns>
    <actions><action trigger='timeout'><message inherit-mode='none'><values><value name='MESSAGE'>lost ${who}@1</value></values>
      </message></action></actions></rule>
  <rule id='close' class='x' context-id='${id}' context-scope='host' context-timeout='10'>
    <patterns><pattern>close @ESTRING:id: @</pattern></patterns>
    <values><value name='who'>${who}@1</value></values>
    <actions><action condition='\"${who}@1\" ne \"\"'><message inherit-mode='context'>
      <values><value name='MESSAGE'>gone ${who}@2 (${CONTEXT_ID}, $(context-length))</value></values>
      <tags><tag>gone</tag></tags></message></action></actions></rule>
  <rule id='alone' class='x'><patterns><pattern>alone @NUMBER:n@</pattern></patterns>
    <actions><action rate='2/60'><message><values><value name='MESSAGE'>saw ${n}@1</value></values></message></action>
    </actions></rule>
  <rule id='make' class='x'><patterns><pattern>make @ESTRING:id: @</pattern></patterns>
    <actions><action><create-context context-id='${id}' context-timeout='5' context-scope='global'><message inherit-mode='last-message'>
      <values><value name='who'>made</value></values></message></create-context></action></actions></rule>
  <rule id='use' class='x' context-id='${id}' context-scope='global' context-timeout='5'>
    <patterns><pattern>use @ESTRING:id: @</pattern></patterns><values><value name='who'>${who}@1</value></values></rule>
</rules></ruleset></patterndb>";

const SSHD: &str = "db-parser(file('/etc/syslog-ng/patterndb.xml') program-template('sshd'))";

/// Without narrowing to single values, as values are made of others.
#[track_caller]
fn check_whole(text: &str, input: &str, expected: &str) {
    let mut batch = batch(&[input.as_bytes()]);
    parser(text).parse(&mut batch, &mut vec![0], &mut context());
    assert_eq!(values(&batch, 0), expected, "{text} on {input}");
}

#[test]
fn a_rule_gives_class_id_and_values() {
    check_whole(
        SSHD,
        "Accepted publickey for root from ::1 port 22 ssh2",
        ".classifier.class=system|.classifier.rule_id=login|how=publickey|ip=::1|port=int:22|seen=root by publickey!|text=root by \
         publickey|twice=int:2222|user=root",
    );
    check(SSHD, "other", ".classifier.class=unknown");
    check_whole(
        "db-parser(file('/etc/syslog-ng/patterndb.xml') program-template('ssh7') prefix('p.'))",
        "Accepted x for y from ::1 port 22",
        ".classifier.class=system|.classifier.rule_id=login|p.how=x|p.ip=::1|p.port=int:22|p.user=y|p.version=int:7|seen= by !|text= by \
         |twice=int:",
    );
}

#[test]
fn what_is_no_number_to_others_is_text() {
    let any = "db-parser(file('/etc/syslog-ng/patterndb.xml'))";
    check(any, "hex 0x1f 1.", ".classifier.class=violation|.classifier.rule_id=hex|f=1.|n=0x1f");
    check(any, "hex 31 1.5", ".classifier.class=violation|.classifier.rule_id=hex|f=double:1.5|n=int:31");
}

#[test]
fn templates_decide_what_is_looked_up() {
    let text = "db-parser(file('/etc/syslog-ng/patterndb.xml') message-template('hex $MSG 1.5') drop-unmatched(yes))";
    check(text, "31", ".classifier.class=violation|.classifier.rule_id=hex|f=double:1.5|n=int:31");
    check(text, "x", "no match");
}

#[test]
fn tags_of_class_and_rule() {
    let mut batch = batch(&[b"Accepted x for y from ::1 port 22", b"other"]);
    let mut selection = vec![0, 1];
    parser(SSHD).parse(&mut batch, &mut selection, &mut context());
    let tags = |n: usize| -> Vec<&str> { batch.tags(&batch.records[n]).into_iter().map(tag_name).collect() };
    let mut known = tags(0);
    known.sort_unstable();
    assert_eq!(known, [".classifier.system", "login"]);
    assert_eq!(tags(1), [".classifier.unknown"]);
}

#[test]
fn what_is_wrong_is_said() {
    let (made, codes, _) = crate::testing::build("db-parser(file('/nowhere.xml'))");
    assert!(made.is_some());
    assert_eq!(codes, ["A0202"]);
    check_codes("db-parser(file('hosts.csv'))", &["A0203"]);
}

/// Messages of one batch as they go on.
fn run(made: &dyn Parse, messages: &[&[u8]], secs: i64, cx: &mut FilterContext) -> Vec<String> {
    let mut batch = batch(messages);
    let now = record::Stamp { secs, ..record::Stamp::default() };
    batch.records.iter_mut().for_each(|r| r.stamp.secs = secs);
    cx.begin_batch(now);
    let mut selection: Vec<u32> = (0..messages.len() as u32).collect();
    made.parse(&mut batch, &mut selection, cx);
    let text =
        |i: &u32| String::from_utf8_lossy(batch.bytes(batch.records[*i as usize].message)).into_owned();
    let who = record::intern("who").expect("room");
    let with = |i: &u32| match batch.value(&batch.records[*i as usize], who) {
        Some(value) => format!("{} who={}", text(i), String::from_utf8_lossy(value.bytes)),
        None => text(i),
    };
    selection.iter().map(with).collect()
}

#[test]
fn contexts_and_actions() {
    let made = parser("db-parser(file('actions.xml'))");
    assert!(made.state().is_some());
    let mut cx = context();
    let mut go = |messages: &[&[u8]], secs| run(&*made, messages, secs, &mut cx);
    assert_eq!(go(&[b"open 1 ann ", b"open 2 bob "], 100), ["open 1 ann  who=ann", "open 2 bob  who=bob"]);
    assert_eq!(
        go(&[b"close 1 ", b"other"], 105),
        ["gone ann (1, 3) who=ann", "close 1  who=ann", "other"],
        "a message made by a match stands in front of the one that caused it"
    );
    assert_eq!(go(&[b"other"], 111), ["lost bob", "other"], "the time of a context is over");
    assert_eq!(go(&[b"alone 7"], 112), ["saw 7", "alone 7"]);
    assert_eq!(go(&[b"alone 8", b"alone 9"], 112), ["saw 8", "alone 8", "alone 9"], "two in a minute");
    assert_eq!(go(&[b"make q ", b"use q "], 200), ["make q ", "use q  who=made"]);
}

#[test]
fn a_database_without_contexts_has_no_state() {
    assert!(parser(SSHD).state().is_none());
    assert!(parser(SSHD).with_state(None).is_none());
}

#[test]
fn contexts_outlive_a_reload() {
    let first = parser("db-parser(file('actions.xml') inject-mode(pass-through))");
    let mut cx = context();
    run(&*first, &[b"open 1 ann "], 100, &mut cx);
    let second = parser("db-parser(file('actions.xml') inject-mode(pass-through))");
    let second = second.with_state(first.state()).expect("a state");
    assert_eq!(run(&*second, &[b"close 1 "], 101, &mut cx), ["gone ann (1, 3) who=ann", "close 1  who=ann"]);
}

#[test]
fn a_file_that_changes_is_taken_and_a_broken_one_is_not() {
    let folder = std::env::temp_dir().join(format!("penstock-db-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("db.xml");
    let path = path.to_str().expect("UTF-8");
    let rules = |id: &str| {
        format!(
            "<patterndb version='5'><ruleset><rules><rule id='{id}'><pattern>m</pattern></rule></rules></ruleset></patterndb>"
        )
    };
    let read = |text: &str| Compiled::new(path, text.as_bytes(), "", &template::TemplateOptions::default());
    let (compiled, _) = read(&rules("a")).expect("a database");
    let file = DatabaseFile::new(path, "", template::TemplateOptions::default(), compiled);
    let rule = |file: &DatabaseFile| file.current().rules.list[0].id.clone();
    file.check();
    assert_eq!(rule(&file), "a", "there is no file");
    std::fs::write(path, rules("bb")).expect("written");
    file.check();
    assert_eq!(rule(&file), "bb");
    std::fs::write(path, "<patterndb").expect("written");
    file.check();
    assert_eq!(rule(&file), "bb", "a broken file");
    let more = rules("ccc")
        .replace("<pattern>m</pattern>", "<pattern>m</pattern><value name='v'>$SOMETHING_NEW</value>");
    std::fs::write(path, more).expect("written");
    file.check();
    assert_eq!(rule(&file), "bb", "it reads what nothing read");
    std::fs::write(path, rules("dddd")).expect("written");
    file.check();
    assert_eq!(rule(&file), "dddd");
    std::fs::remove_dir_all(&folder).expect("removed");
}
