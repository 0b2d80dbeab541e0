//! Every filter function and every rule of comparisons, by example.

mod equalities;
mod manual;

use crate::testing::*;
use crate::{CODES, FUNCTIONS, FilterContext, FilterSet, Wanted};
use proptest::prelude::*;
use record::{Demand, NameId, Stamp, tag_id};
use std::sync::Arc;

#[test]
fn facility_and_severity() {
    for (text, message, expected) in [
        ("facility(mail)", "fac=mail", true),
        ("facility(mail)", "fac=user", false),
        ("facility(mail, cron)", "fac=cron", true),
        ("facility(local0..local7)", "fac=local3", true),
        ("facility(local7..local0)", "fac=local3", true),
        ("facility(local0..local7)", "fac=ftp", false),
        ("facility(2)", "fac=mail", true),
        ("facility(authpriv)", "fac=authpriv", true),
        ("level(err)", "sev=err", true),
        ("level(error)", "sev=err", true),
        ("severity(warn..emerg)", "sev=crit", true),
        ("priority(emerg..warning)", "sev=notice", false),
        ("level(3)", "sev=err", true),
        ("level(info, debug)", "sev=debug", true),
        ("facility(mail) and level(err)", "fac=mail sev=err", true),
        ("facility(mail) and level(err)", "fac=mail sev=info", false),
        ("not facility(mail)", "fac=user", true),
        ("not facility(mail) and not level(err)", "fac=user sev=err", false),
        ("facility(mail) or level(err)", "fac=user sev=err", true),
        ("facility(mail); level(err)", "fac=mail sev=err", true),
        ("facility(mail); level(err)", "fac=mail sev=info", false),
    ] {
        check(text, message, expected);
    }
}

#[test]
fn matchers() {
    for (text, message, expected) in [
        ("program(\"^post\")", "prog=postfix", true),
        ("program(\"^post\")", "prog=xpostfix", false),
        ("program('sshd' type(string))", "prog=sshd", true),
        ("program('sshd' type(string))", "prog=sshd2", false),
        ("program('sshd' type(string) flags(prefix))", "prog=sshd2", true),
        ("program('SSHD' flags(ignore-case))", "prog=sshd", true),
        ("program('s*d' type(glob))", "prog=sshd", true),
        ("host('[0-9]+$')", "host=web12", true),
        ("host('[0-9]+$')", "host=web", false),
        ("host('^web\\d{2}$')", "host=web12", true),
        ("message('disk (full|failed)')", "msg=the disk failed", true),
        ("message('disk (full|failed)')", "msg=the disk is fine", false),
        ("message('a(?=b)')", "msg=xab", true),
        ("message('a(?=b)')", "msg=xac", false),
        ("match('x' value('MESSAGE'))", "msg=axb", true),
        ("match('x' value('.my.name'))", ".my.name=x1", true),
        ("match('x' value('.my.name'))", "msg=x", false),
        ("match('^web1-sshd$' template('$HOST-$PROGRAM'))", "host=web1 prog=sshd", true),
        ("match('^mail$' value('FACILITY'))", "fac=mail", true),
        ("match('^ssh\\[5\\]: hi$')", "prog=ssh pid=5 msg=hi", true),
        ("match('^ssh: hi$')", "prog=ssh msg=hi", true),
        ("match('^hi$')", "msg=hi", true),
        ("source(s_test)", "msg=", true),
        ("source(s_tes)", "msg=", false),
        ("source('^s_t' type(pcre))", "msg=", true),
        ("source('s_net')", "peer=10.0.0.1", true),
        ("match('' value('nosuch'))", "msg=", true),
    ] {
        check(text, message, expected);
    }
}

#[test]
fn networks_tags_lists_and_blanks() {
    for (text, message, expected) in [
        ("netmask('10.0.0.0/8')", "peer=10.1.2.3", true),
        ("netmask('10.0.0.0/255.0.0.0')", "peer=10.1.2.3", true),
        ("netmask('10.1.2.3')", "peer=10.1.2.3", true),
        ("netmask('10.0.0.0/8')", "peer=11.1.2.3", false),
        ("netmask('127.0.0.0/8')", "msg=local", true),
        ("netmask('10.0.0.0/8')", "peer=[::ffff:10.1.2.3]", true),
        ("netmask('0.0.0.0/0')", "peer=[fe80::1]", false),
        ("netmask6('fe80::/10')", "peer=[fe80::1]", true),
        ("netmask6('::1')", "msg=local", true),
        ("netmask6('::/0')", "peer=10.0.0.1", false),
        ("tags('t1')", "tag=t1", true),
        ("tags('t1', 't2')", "tag=t2", true),
        ("tags('t1' 't2')", "tag=t3", false),
        ("not tags('t1')", "tag=t3", true),
        ("blank('x')", "msg=", true),
        ("blank('x')", "x=1", false),
        ("blank('x')", "boolean:x=false", true),
        ("blank('x')", "boolean:x=true", false),
        ("blank('x')", "list:x=", true),
        ("blank('x')", "list:x=a,b", false),
        ("blank('x')", "null:x=", true),
        ("blank('x')", "x.y=1", false),
        ("blank('x')", "xx.y=1", true),
        ("blank('MESSAGE')", "msg=  \t", true),
        ("blank('HOST')", "host=h", false),
    ] {
        check(text, message, expected);
    }
}

#[test]
fn many_tags() {
    let names: Vec<String> = (0..80).map(|n| format!("many{n}")).collect();
    names.iter().for_each(|n| {
        tag_id(n);
    });
    check("tags('many79')", "tag=many79", true);
    check("tags('many79', 'many2')", "tag=many2", true);
    check("tags('many79')", "tag=many78", false);
}

#[test]
fn lists_are_read_line_by_line() {
    let config = "filter f { in-list('/l' value('PROGRAM')); }; filter g { in-list('/l' 'HOST'); };
                  filter e { in-list('/empty' 'HOST'); };";
    for (file, program, expected) in [
        ("a\nsshd\n", "sshd", true),
        ("a\nsshd", "sshd", true),
        ("sshd2\n", "sshd", false),
        ("", "sshd", false),
        // An empty line is no name.
        ("a\n\nsshd\n", "", false),
    ] {
        let mut world = World::new(config, (4, 11));
        world.files.insert("/l".to_owned(), file.as_bytes().to_vec());
        world.files.insert("/empty".to_owned(), Vec::new());
        check_filter(world.filter("f"), file, &format!("prog={program}"), expected);
        check_filter(world.filter("g"), file, &format!("host={program}"), expected);
        check_filter(world.filter("e"), file, "msg=x", false);
    }
}

#[test]
fn comparisons_of_text() {
    for (text, message, expected) in [
        ("'$HOST' eq 'web'", "host=web", true),
        ("'$HOST' ne 'web'", "host=web", false),
        ("'$HOST' lt 'x'", "host=web", true),
        ("'$HOST' ge 'x'", "host=web", false),
        ("'$PID' eq '5'", "pid=05", false),
        ("'10' lt '9'", "msg=", true),
        ("'$HOST$PID' eq 'web7'", "host=web pid=7", true),
        ("'$PID' eq ''", "msg=", true),
        ("'$(if (\"$PID\" == \"5\") a b)' eq 'a'", "pid=5", true),
        ("'$(if (\"$PID\" == \"5\" or facility(mail)) a b)' eq 'a'", "pid=6", false),
        ("'$(if (\"given\" ne \"\") $PID b)' eq '6'", "pid=6", true),
        ("'$(if (\"\" ne \"\") $PID b)' eq 'b'", "pid=6", true),
    ] {
        check(text, message, expected);
    }
}

/// Blocks ask so whether they were given something: that is not asked for every message.
#[test]
fn conditions_that_no_message_changes() {
    let world = World::new("", (4, 11));
    for (text, expected) in [
        ("'given' ne ''", Some(true)),
        ("'' ne ''", Some(false)),
        ("'' ne '' or '1' eq '1'", Some(true)),
        ("'$PID' ne ''", None),
        ("facility(mail)", None),
    ] {
        let condition = crate::compile_condition(text, &world).expect("a condition");
        assert_eq!(condition.constant(), expected, "{text}");
    }
}

#[test]
fn comparisons_by_type() {
    for (text, message, expected) in [
        ("'$PID' == 5", "pid=05", true),
        // Two strings are compared as text, also where they look like numbers.
        ("'$PID' == '5'", "pid=05", false),
        ("'$PID' == '05'", "pid=05", true),
        ("'5' == '5.0'", "msg=", false),
        ("'$PID' != '5'", "pid=6", true),
        ("'$MESSAGE' == 16", "msg=0x10", true),
        ("'$MESSAGE' == 1000", "msg=1e3", true),
        ("'$MESSAGE' == 5", "msg= 5", true),
        ("'$MESSAGE' == 5", "msg=5a", false),
        ("'$PID' > 100", "pid=99", false),
        ("'$PID' > 100", "pid=101", true),
        ("'$PID' > '100'", "pid=99", true),
        ("'$PID' >= 1.5", "pid=2", true),
        ("'$PID' > 5", "pid=abc", false),
        ("'$PID' <= 5", "pid=abc", false),
        ("'$PID' != 5", "pid=abc", true),
        ("'$PID' == 5", "pid=abc", false),
        ("'$PID' != ''", "pid=1", true),
        // What is not set is null.
        ("'$PID' != ''", "msg=", true),
        ("'$PID' == ''", "msg=", false),
        ("'$PID' > ''", "msg=", false),
        ("'$PID' > ''", "pid=1", true),
        ("'${nosuch}' == ''", "msg=", false),
        ("'${nosuch}' == 0", "msg=", false),
        ("'${nosuch}' < 5", "msg=", true),
        ("'${nosuch}' == null('')", "msg=", true),
        ("'${.SDATA.no.such}' == ''", "msg=", false),
        ("'${nosuch}' eq ''", "msg=", true),
        ("'$HOST' == 'web'", "host=web", true),
        ("'$HOST' < 'x'", "host=web", true),
        ("'$LEVEL_NUM' > '5'", "sev=info", true),
        ("'$LEVEL_NUM' > 6", "sev=info", false),
        ("'${x}' == '5'", "int:x=5", true),
        ("'${x}' == '5.0'", "int:x=5", true),
        ("'${x}' == 1", "boolean:x=true", true),
        ("'${x}' == 0", "boolean:x=False", true),
        ("'${x}' == 1500", "datetime:x=1.5", true),
        ("'${x}' == 0", "null:x=", false),
        ("'${x}' <= 0", "null:x=", true),
        ("'${x}' == '${y}'", "null:x= null:y=", true),
        ("'${x}' != '${y}'", "null:x= int:y=0", true),
        ("'${x}' == 'a,b'", "list:x=a,b", false),
        ("'${x}' != 'a,b'", "list:x=a,b", true),
        ("'${x}' == list('a,b')", "list:x=a,b", true),
        ("'${x}' == json('a,b')", "list:x=a,b", false),
        ("'${x}' != json('a,b')", "list:x=a,b", true),
        ("'${x}' == '${y}'", "json:x=[1] json:y=[1]", true),
        ("'${x}' == 0", "boolean:x=what", true),
        ("'${x}' == 0", "datetime:x=what", true),
        ("'$(list-concat a b)' != 'a,b'", "msg=", true),
        ("'$(list-concat a b)' == list('a,b')", "msg=", true),
        ("'$(list-tail a b)' == 'b'", "msg=", true),
        ("'$(list-tail a)' != ''", "msg=", false),
        ("'$(list-slice 1:1 a)' != ''", "msg=", true),
        ("'$(+ 1 2)' === 3", "msg=", true),
        // Bytes are no text: a template sees nothing of them.
        ("'${x}' == bytes('ab')", "bytes:x=ab", false),
        ("int('$PID') == 7", "pid=7", true),
        ("double('$PID') == '7.0'", "pid=7", true),
        ("string('$x') == '05'", "int:x=05", true),
        ("string('${x}') == string('5')", "int:x=05", false),
        ("'9223372036854775807' == 9223372036854775806", "msg=", false),
    ] {
        check(text, message, expected);
    }
}

#[test]
fn strict_comparisons() {
    for (text, message, expected) in [
        ("'${x}' === 5", "int:x=5", true),
        ("'${x}' === 5", "x=5", false),
        ("'${x}' !== 5", "x=5", true),
        ("'${x}' !== 5", "int:x=5", false),
        ("'${x}' === '5'", "x=5", true),
        ("'${x}' === '5'", "int:x=5", false),
        ("'${x}' === int('5')", "int:x=5", true),
        ("'${x}' === 'a'", "x=b", false),
    ] {
        check(text, message, expected);
    }
}

#[test]
fn comparisons_of_older_configurations() {
    for (version, text, message, expected) in [
        // The leading whole number before 4.0.
        ((3, 38), "'$PID' == '${x}'", "pid=5abc x=5", true),
        ((3, 38), "'$PID' == ''", "msg=", true),
        ((3, 38), "'${nosuch}' < 5", "msg=", false),
        // So it is with a number in quotes (golden case filter/old-comparisons).
        ((3, 38), "'$PID' == '5'", "pid=05", true),
        ((3, 38), "'$PID' == '5'", "pid=5abc", true),
        ((3, 38), "'${x}' == '1'", "x=1.5", true),
        ((3, 38), "'${x}' > '1'", "x=1.5", false),
        ((3, 38), "'x' == '0'", "msg=", true),
        ((3, 38), "'${x}' === '5'", "x=5", true),
        ((3, 38), "'${x}' === '5'", "x=05", false),
        ((3, 38), "'5' == '5.0'", "msg=", true),
        ((3, 38), "'$PID' == ''", "pid=abc", true),
        ((3, 38), "'$PID' != ''", "pid=7", true),
        ((3, 38), "'$PID' > '9'", "pid=10", true),
        ((3, 38), "'$HOST' == 'web'", "host=other", true),
        ((3, 38), "'${x}' == '5'", "list:x=5", true),
        // Explicit types are what they say.
        ((3, 38), "int('$PID') == 5", "pid=5abc", false),
        ((3, 38), "'$PID' == 5", "pid=5", true),
        // Text before 3.8.
        ((3, 7), "'$PID' == '5'", "pid=05", false),
        ((3, 7), "'$PID' < '9'", "pid=10", true),
        ((3, 7), "'$HOST' == 'web'", "host=web", true),
        // But numbers where one side says its type.
        ((3, 7), "'$PID' > 10", "pid=9", false),
        ((3, 7), "'$PID' > 10", "pid=100", true),
        ((3, 7), "'$PID' == 7", "pid=007", true),
        ((3, 7), "int('$PID') > int('10')", "pid=9", false),
        ((3, 7), "string('$PID') > string('10')", "pid=9", true),
        ((3, 38), "'$HOST' eq 'web'", "host=web", true),
    ] {
        check_at(text, version, message, expected);
    }
}

#[test]
fn named_filters_refer_to_each_other() {
    let config = "filter a { facility(mail) and filter(b); }; filter b { level(err) or filter('c'); };
                  filter c { program('x'); }; filter l1 { filter(l2); }; filter l2 { not filter(l1); };
                  filter n { filter(bb); }; filter self { filter(self) or facility(mail); };";
    let world = World::new(config, (4, 11));
    check_filter(world.filter("a"), "a", "fac=mail sev=err", true);
    check_filter(world.filter("a"), "a", "fac=mail sev=info prog=x", true);
    check_filter(world.filter("a"), "a", "fac=mail sev=info", false);
    assert_eq!(world.compile("n").1, ["F0104"]);
    assert_eq!(world.compile("l1").1, ["F0105"]);
    let mut diags = diag::Diagnostics::new();
    let mut map = diag::SourceMap::new();
    let at = diag::Span::new(map.add_root("t", "x"), 0, 1);
    assert!(crate::Filter::named("self", at, &world, &mut diags).is_none());
    assert_eq!(diags.iter().map(|d| d.code).collect::<Vec<_>>(), ["F0105"]);
    // Reported once, however often it is used.
    assert!(crate::Filter::named("self", at, &world, &mut diags).is_none());
    assert_eq!(diags.len(), 1);
}

#[test]
fn every_error_has_its_code() {
    for (text, codes) in [
        ("facilty(mail)", vec!["F0101"]),
        ("facility(mial)", vec!["F0106"]),
        ("facility(128)", vec!["F0106"]),
        ("facility()", vec!["F0103"]),
        ("level(8)", vec!["F0106"]),
        ("level(info..bogus)", vec!["F0106"]),
        ("program()", vec!["F0103"]),
        ("program('a' 'b')", vec!["F0103"]),
        ("program('(')", vec!["F0110"]),
        ("program('a' value('HOST'))", vec!["F0102"]),
        ("program('a' flag(x))", vec!["F0102"]),
        ("program('a' flags(icasee))", vec!["X0105"]),
        ("program('a' type(posix))", vec![]),
        ("program('a' type(nosuch))", vec!["X0104"]),
        ("program('a' flags(prefix))", vec!["F0113"]),
        ("match('a')", vec!["F0112"]),
        ("match('a' value('$HOST'))", vec!["F0113"]),
        ("match('a' value('HOST') template('x'))", vec!["F0103"]),
        ("match('a' template('${'))", vec!["F0111"]),
        ("'$(if (bogus(x)) a b)' eq 'a'", vec!["F0111"]),
        ("netmask('10.0.0.0/33')", vec!["F0107"]),
        ("netmask6('10.0.0.0')", vec!["F0107"]),
        ("tags()", vec!["F0103"]),
        ("in-list('/nosuch' value('HOST'))", vec!["F0108"]),
        ("in-list('/nosuch')", vec!["F0103"]),
        ("rate-limit(key('$HOST'))", vec!["F0109"]),
        ("rate-limit(rate(0))", vec!["F0109"]),
        ("rate-limit(rate(5) burst(3))", vec!["F0102"]),
        ("throttle(rate(5))", vec!["F0117"]),
        ("integer('$PID') == 5", vec!["F0115"]),
        ("message == 'x'", vec!["F0118"]),
        ("message eq 'x'", vec!["F0118"]),
        ("'x' == message", vec!["F0118"]),
        ("PID > 100", vec!["F0118"]),
        ("int(pid) > 100", vec!["F0118"]),
        ("level >= 3", vec!["F0118"]),
        ("'$HOST' eq program", vec!["F0118"]),
        ("foo == bar", vec!["F0118"]),
        ("foo != 'bar'", vec!["F0118"]),
        ("not host == 'a' or program('b')", vec!["F0118"]),
        ("'$(if (host == \"a\") a b)' eq 'a'", vec!["F0111"]),
        ("'$HOST' eq web1", vec![]),
        ("$HOST eq web1 or '5' > $PID or $a == $b", vec![]),
        ("'$PID' == 100", vec![]),
        ("'1' == '1'", vec![]),
        ("facility(x) and program('[') and not tags()", vec!["F0106", "F0110", "F0103"]),
    ] {
        assert_eq!(findings(text), codes, "{text}");
    }
    let mut codes: Vec<&str> = CODES.iter().map(|(code, ..)| *code).collect();
    codes.dedup();
    assert_eq!(codes.len(), CODES.len());
}

#[test]
fn near_names_are_suggested() {
    let world = World::new(
        "filter web { facility(mail); }; filter f { filter(wbe); }; filter g { progam('x'); };",
        (4, 11),
    );
    for (name, near) in [("f", "web"), ("g", "program")] {
        let mut diags = diag::Diagnostics::new();
        let expr = crate::FilterEnv::filter(&world, name).expect("a filter");
        crate::Filter::compile(expr, &world, &mut diags);
        let help = diags.iter().next().and_then(|d| d.help.clone()).unwrap_or_default();
        assert!(help.contains(near), "{help}");
    }
}

#[test]
fn stored_matches_become_values() {
    let filter = filter("message('(?<user>\\w+)@(\\w+)(!)?' flags(store-matches))");
    let (mut cx, mut batch) = (context(), batch());
    let index = add(&mut batch, "msg=login root@web ok");
    let other = add(&mut batch, "msg=nothing");
    let mut selection = vec![0, 1];
    filter.select(&mut batch, &mut selection, &mut cx);
    assert_eq!(selection, [0]);
    for (name, expected) in [("0", "root@web"), ("1", "root"), ("2", "web"), ("3", ""), ("user", "root")] {
        assert_eq!(value(&batch, index, name), expected, "{name}");
        assert_eq!(value(&batch, other, name), "");
    }
    let writes = filter.writes();
    assert!(writes.contains(&NameId(2)) && writes.contains(&record::intern("user").expect("room")));
    // A later match clears what the earlier one left.
    let second = self::filter("message('l(o)' flags(store-matches))");
    assert!(second.matches(&mut batch, index, &mut cx));
    for (name, expected) in [("0", "lo"), ("1", "o"), ("2", ""), ("user", "root")] {
        assert_eq!(value(&batch, index, name), expected, "{name}");
    }
}

#[test]
fn matches_of_made_text_are_kept() {
    let filter = filter("match('(w)eb' template('${HOST}+${PROGRAM}') flags(store-matches))");
    let (mut cx, mut batch) = (context(), batch());
    let index = add(&mut batch, "host=a prog=web");
    assert!(filter.matches(&mut batch, index, &mut cx));
    assert_eq!((value(&batch, index, "0"), value(&batch, index, "1")), ("web".to_owned(), "w".to_owned()));
}

#[test]
fn only_wanted_matches_are_stored() {
    let filter = filter("message('(a)(?<n>b)' flags(store-matches))");
    let (mut cx, mut batch) = (context(), batch());
    let index = add(&mut batch, "msg=ab");
    let mut demand = Demand::default();
    demand.name(NameId(1));
    cx.work.wanted = Wanted::of(&demand);
    assert!(filter.matches(&mut batch, index, &mut cx));
    assert_eq!(
        (value(&batch, index, "0"), value(&batch, index, "1"), value(&batch, index, "n")),
        (String::new(), "a".to_owned(), String::new())
    );
}

#[test]
fn matches_are_stored_only_where_evaluation_gets() {
    let filter = filter(
        "facility(mail) and message('(a)' flags(store-matches)) or message('(b)' flags(store-matches))",
    );
    let (mut cx, mut batch) = (context(), batch());
    for message in ["fac=mail msg=ab", "fac=user msg=ab", "fac=mail msg=b", "fac=user msg=c"] {
        add(&mut batch, message);
    }
    let mut selection = vec![0, 1, 2, 3];
    filter.select(&mut batch, &mut selection, &mut cx);
    assert_eq!(selection, [0, 1, 2]);
    let stored: Vec<String> = (0..4).map(|i| value(&batch, i, "1")).collect();
    assert_eq!(stored, ["a", "b", "b", ""]);
}

#[test]
fn a_rate_of_each_worker_is_not_shared() {
    let filter = filter("rate-limit(key('$HOST') thread-local-rate(2))");
    let mut batch = batch();
    for _ in 0..3 {
        add(&mut batch, "host=a msg=x");
    }
    let passed = |cx: &mut FilterContext, batch: &mut record::Batch| {
        let mut selection = vec![0, 1, 2];
        filter.select(batch, &mut selection, cx);
        selection.len()
    };
    let (mut one, mut other) = (context(), context());
    assert_eq!((passed(&mut one, &mut batch), passed(&mut one, &mut batch)), (2, 0));
    assert_eq!(passed(&mut other, &mut batch), 2);
}

#[test]
fn rate_limit_gives_each_key_its_tokens() {
    let filter = filter("rate-limit(key('$HOST') rate(2))");
    assert!(!filter.is_pure());
    let (mut cx, mut batch) = (context(), batch());
    for host in ["a", "a", "a", "b", "a", "b", "b"] {
        add(&mut batch, &format!("host={host}"));
    }
    let mut run = |millis: u32, expected: &[u32]| {
        cx.begin_batch(Stamp {
            secs: 1000 + i64::from(millis / 1000),
            usec: millis % 1000 * 1000,
            offset: 0,
        });
        let mut selection: Vec<u32> = (0..7).collect();
        filter.select(&mut batch, &mut selection, &mut cx);
        assert_eq!(selection, expected, "after {millis} ms");
    };
    run(0, &[0, 1, 3, 5]);
    run(0, &[]);
    run(500, &[0, 3]);
    run(700, &[]);
    run(60_000, &[0, 1, 3, 5]);
    run(0, &[]);
}

#[test]
fn what_is_read() {
    for (text, names, pri, tags) in [
        ("facility(mail)", vec![], true, false),
        ("program('x') and tags('a')", vec!["PROGRAM"], false, true),
        ("'$HOST' eq '$PID'", vec!["HOST", "PID"], false, false),
        ("match('x' value('a.b'))", vec!["a.b"], false, false),
        ("rate-limit(key('$HOST') rate(1))", vec!["HOST"], false, false),
    ] {
        let mut demand = Demand::default();
        filter(text).reads(&mut demand);
        let found: Vec<&str> = demand.names.iter().map(|n| record::name_of(*n)).collect();
        assert_eq!((found, demand.pri, demand.tags), (names, pri, tags), "{text}");
    }
}

/// Like a distribution's default configuration.
const SIBLINGS: [&str; 12] = [
    "facility(kern) and match('IN=' value('MESSAGE')) and match('OUT=' value('MESSAGE'))",
    "level(warn) and facility(kern) and not filter(f0) or level(err) and not facility(authpriv)",
    "facility(news) and level(notice)",
    "facility(mail) and level(info)",
    "facility(local0, local1, local2)",
    "program('^acpid') or message('^\\[?acpid')",
    "not facility(news, mail) and not filter(f0)",
    "program('NetworkManager') or message('^NetworkManager:')",
    "level(warn..emerg) and not filter(f0)",
    "facility(mail) and host('^web[0-9]+')",
    "'$PID' > 5",
    "message('OUT=')",
];

fn siblings() -> (World, Vec<Arc<crate::Filter>>) {
    let config: String =
        SIBLINGS.iter().enumerate().map(|(i, f)| format!("filter f{i} {{ {f}; }};\n")).collect();
    let world = World::new(&config, (4, 11));
    let filters = (0..SIBLINGS.len()).map(|i| Arc::new(world.filter(&format!("f{i}")))).collect();
    (world, filters)
}

fn message() -> impl Strategy<Value = String> {
    let pick = |list: &'static [&'static str]| prop::sample::select(list);
    (
        pick(&["kern", "mail", "news", "user", "local1", "authpriv"]),
        pick(&["err", "warning", "info", "notice", "debug"]),
        pick(&["web1", "web", "db"]),
        pick(&["acpid", "NetworkManager", "x"]),
        pick(&["", "4", "7"]),
        pick(&["IN=eth0 OUT=", "IN= x", "[acpid]: y", "NetworkManager: z", ""]),
    )
        .prop_map(|(f, s, h, p, pid, m)| format!("fac={f} sev={s} host={h} prog={p} pid={pid} msg={m}"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_set_answers_like_its_filters(messages in prop::collection::vec(message(), 1..20)) {
        let (_, filters) = siblings();
        let set = FilterSet::compile(&filters).expect("pure filters");
        let (mut cx, mut batch) = (context(), batch());
        messages.iter().for_each(|m| { add(&mut batch, m); });
        let all: Vec<u32> = (0..messages.len() as u32).collect();
        let mut out = vec![Vec::new(); filters.len()];
        set.select_all(&batch, &all, &mut cx, &mut out);
        let mut first = vec![Vec::new(); filters.len() + 1];
        set.select_first(&batch, &all, &mut cx, &mut first);
        let mut left = all.clone();
        for (n, filter) in filters.iter().enumerate() {
            let mut alone = all.clone();
            filter.select(&mut batch, &mut alone, &mut cx);
            prop_assert_eq!(&out[n], &alone, "{}", SIBLINGS[n]);
            let taken: Vec<u32> = left.iter().copied().filter(|i| alone.contains(i)).collect();
            prop_assert_eq!(&first[n], &taken, "{}", SIBLINGS[n]);
            left.retain(|i| !taken.contains(i));
        }
        prop_assert_eq!(&first[filters.len()], &left);
    }

    /// Set-wise evaluation is the same as asking for each record, for any nesting.
    #[test]
    fn select_answers_like_asking_one_by_one(
        text in expression(),
        messages in prop::collection::vec(message(), 1..12),
    ) {
        let filter = filter(&text);
        let (mut cx, mut batch) = (context(), batch());
        messages.iter().for_each(|m| { add(&mut batch, m); });
        let expected: Vec<u32> = (0..messages.len() as u32)
            .filter(|i| filter.holds_for(&batch, &batch.records[*i as usize].clone(), &mut cx))
            .collect();
        let mut selection: Vec<u32> = (0..messages.len() as u32).collect();
        filter.select(&mut batch, &mut selection, &mut cx);
        prop_assert_eq!(selection, expected, "{}", text);
        let negated = self::filter(&format!("not ({text})"));
        for index in 0..messages.len() {
            prop_assert_ne!(filter.matches(&mut batch, index, &mut cx), negated.matches(&mut batch, index, &mut cx));
        }
    }

    #[test]
    fn never_panics(text in "[a-z('\"$){}=<>! ]{0,40}", message in "\\PC{0,40}", bytes in any::<Vec<u8>>()) {
        let parsed = conf_syntax::parse_text("t", &format!("filter f {{ {text}; }};"), &conf_syntax::ParseOptions::default());
        let world = World::new("", (4, 11));
        for item in parsed.config.items {
            if let conf_syntax::Statement::Filter(conf_syntax::FilterObject { expr: Some(expr), .. }) = item {
                crate::Filter::compile(&expr, &world, &mut diag::Diagnostics::new());
            }
        }
        for text in ["message('x(.*)y' flags(store-matches))", "'${MESSAGE}' > 5", "'${MESSAGE}' === '${HOST}'", "blank('MESSAGE')"] {
            let filter = filter(text);
            let (mut cx, mut batch) = (context(), batch());
            let index = add(&mut batch, "");
            batch.set(index, NameId::MESSAGE, message.as_bytes(), record::ValueType::String);
            filter.matches(&mut batch, index, &mut cx);
            batch.set(index, NameId::MESSAGE, &bytes, record::ValueType::DateTime);
            filter.matches(&mut batch, index, &mut cx);
            // An index out of range is an answer, not a panic.
            prop_assert!(!filter.matches(&mut batch, 99, &mut cx));
            filter.select(&mut batch, &mut vec![0, 99], &mut cx);
        }
    }
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "facility(kern, mail)",
        "level(err..info)",
        "program('^acpid')",
        "host('web[0-9]')",
        "message('OUT=')",
        "message('\\[?acpid')",
        "'$PID' > 5",
        "'$HOST' eq 'db'",
        "facility(kern..local7)",
    ])
    .prop_map(String::from);
    leaf.prop_recursive(4, 20, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| format!("not ({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) and ({b})")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("({a}) or ({b}) or ({c})")),
        ]
    })
}

#[test]
fn every_function_is_described() {
    for function in FUNCTIONS {
        assert!(!function.help.is_empty() && !function.arguments.is_empty(), "{}", function.name);
    }
}
