use super::*;
use crate::model::{ActionKind, Scope};

fn check(text: &str, expected: &[&str]) {
    let loaded = load("t.xml", text.as_bytes());
    assert_eq!(loaded.lines(), expected, "{text}");
}

fn rules(inner: &str) -> String {
    format!(
        "<patterndb version='4' pub_date='x'>\n<ruleset name='r' id='1'><pattern>p</pattern><rules>\n{inner}\n</rules></ruleset></patterndb>"
    )
}

#[test]
fn everything_has_its_place() {
    let text = rules(
        "<rule id='a' class='c' provider='me' context-id='$PID' context-scope='host' context-timeout='9'>
  <patterns><pattern>x &lt;@NUMBER:n@<!-- c -->&#62;</pattern><pattern><![CDATA[<y>]]></pattern></patterns>
  <values><value name='v' type='int'>$n</value></values><tags><tag>t</tag></tags>
  <examples><example><test_message program='q'>m</test_message>
    <test_values><test_value name='n'>5</test_value></test_values></example></examples>
  <actions><action rate='2/60' trigger='timeout' condition='1 == 1'><message inherit-mode='context'>
    <values><value name='MESSAGE'>z</value></values></message></action>
    <action><create-context context-id='b'/></action></actions>
</rule>",
    );
    let loaded = load("t", text.as_bytes());
    assert_eq!(loaded.lines(), Vec::<String>::new());
    let database = loaded.database.expect("no errors");
    let rule = &database.rulesets[0].rules[0];
    assert_eq!(rule.patterns[0].text, "x <@NUMBER:n@>");
    assert_eq!(rule.patterns[1].text, "<y>");
    assert_eq!(loaded.sources.locate(rule.patterns[0].span).line, 4);
    assert_eq!((rule.values[0].kind.as_str(), rule.values[0].template.as_str()), ("int", "$n"));
    assert_eq!(rule.examples[0].values, [("n".to_owned(), "5".to_owned())]);
    let context = rule.context.as_ref().expect("a context");
    assert_eq!((context.scope, context.timeout_s), (Scope::Host, 9));
    assert_eq!(rule.actions.len(), 2);
    assert_eq!(rule.actions[0].rate, Some(crate::model::Rate { count: 2, per_s: 60 }));
    assert!(matches!(&rule.actions[1].what, ActionKind::CreateContext(c, _) if c.id == "b"));
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    check(
        &rules(
            "<rule class='c'><pattern>x</pattern></rule>\n<rule id='b'><patern>x</patern></rule>\n<rule id='c' context-scope='hots'><value>q</value>text</rule>",
        ),
        &[
            "t.xml:3:1: A0205 `<rule>` needs the attribute `id`",
            "t.xml:4:14: A0203 `<patern>` cannot stand inside of `<rule>` (did you mean `pattern`?)",
            "t.xml:5:1: A0205 `hots` cannot be the `context-scope` of `<rule>` (did you mean `host`?)",
            "t.xml:5:35: A0205 `<value>` needs the attribute `name`",
            "t.xml:5:51: A0203 text inside of `<rule>`, where only elements can be",
        ],
    );
}

#[test]
fn what_is_no_database() {
    check(
        "",
        &[
            "t.xml:1:1: A0201 there is no element in this file (a database begins with <patterndb version='6' pub_date='2026-01-01'>)",
        ],
    );
    check("<foo/>", &["t.xml:1:1: A0203 `<foo>` where `<patterndb>` has to stand"]);
    check(
        "<patterndb version='7'/>",
        &["t.xml:1:1: A0204 version `7` of the format is not known (versions 2 to 6 are)"],
    );
    check("<patterndb version='4'><ruleset>", &["t.xml:1:24: A0201 `<ruleset>` is never closed"]);
    check("<patterndb/>q", &["t.xml:1:13: A0201 text outside of the outermost element"]);
    check("<patterndb/><patterndb/>", &["t.xml:1:13: A0201 a second outermost element"]);
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaa'><!ENTITY b '&a;&a;'>]><patterndb version='4'>&b;</patterndb>";
    check(bomb, &["t.xml:1:76: A0201 there is no entity `b`"]);
    let deep = "<patterndb>".repeat(1000);
    assert!(load("t", deep.as_bytes()).diags.has_errors());
    let latin = load("t.xml", b"<patterndb version='4'>\n \xe4</patterndb>");
    assert_eq!(latin.lines(), ["t.xml:2:2: A0201 bytes that are no UTF-8"]);
}

mod hostile {
    use super::*;
    use crate::rules::{Rules, Scratch};
    use proptest::prelude::*;

    /// Reads the text; what is good is searched.
    fn read(text: &[u8]) {
        let mut loaded = load("t", text);
        let Some(database) = loaded.database.take() else {
            assert!(loaded.diags.has_errors());
            return;
        };
        let rules = Rules::compile(database, "p.", &mut loaded.diags);
        let mut scratch = Scratch::default();
        for message in [text, b"x 12 <y", b""] {
            rules.find(b"p", message, &mut scratch);
        }
        let programs = |_| vec!["p".to_owned()];
        crate::overlap::overlaps(&rules, &programs);
    }

    proptest! {
        #[test]
        fn broken_files_are_refused(place in any::<prop::sample::Index>(), with in ".{0,6}", cut in any::<bool>()) {
            let good = rules("<rule id='a'><patterns><pattern>x @NUMBER:n@</pattern></patterns><values><value name='v'>$n</value></values>\
                 <actions><action rate='1/2'><message/></action></actions></rule>");
            read(good.as_bytes());
            let at = place.index(good.len());
            let mut text = good.as_bytes()[..at].to_vec();
            text.extend_from_slice(with.as_bytes());
            text.extend_from_slice(&good.as_bytes()[if cut { good.len() } else { at }..]);
            read(&text);
        }

        #[test]
        fn any_pattern_is_read_or_refused(pattern in "[@:A-Za-z0-9 ]{0,24}|(@(NUMBER|PCRE|SET|QSTRING|ESTRING|EMAIL|LLADDR):?[a-z(]{0,2}:?[^@<&]{0,4}@?){1,4}") {
            let pattern = crate::write::escape(&pattern);
            read(rules(&format!("<rule id='a'><pattern>{pattern}</pattern></rule>")).as_bytes());
        }
    }
}
