//! What is told of each condition, in which order.

use crate::testing::{World, add, batch, context};

/// What is told of a message, a word for each thing.
#[track_caller]
fn check(config: &str, message: &str, expected: &[&str]) {
    let filter = World::new(config, (4, 11)).filter("f");
    let (mut batch, mut cx) = (batch(), context());
    let index = add(&mut batch, message);
    let mut told = Vec::new();
    filter.judge(&mut batch, index, &mut cx, &mut |judged| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let seen = judged.operands.iter().chain(judged.asks);
        let seen: Vec<String> = seen.map(|(n, t)| format!("{n}={}", text(t))).collect();
        told.push(match judged.holds {
            None => format!("{}({})", judged.function, seen.join(" ")),
            Some(holds) => format!("{}: {holds}", judged.function),
        });
    });
    assert_eq!(told, expected, "{config} on {message}");
}

#[test]
fn conditions_are_told_in_the_order_of_the_text() {
    // Normally the facility would be asked first, and together with the severity.
    check(
        "filter f { message('disk') and facility(mail) and level(err) and host('x'); };",
        "fac=mail sev=info host=h msg=disk full",
        &[
            "message(name=MESSAGE value=disk full pattern=disk)",
            "message: true",
            "facility(facility=mail severity=info asks-for=mail)",
            "facility: true",
            "level(facility=mail severity=info asks-for=err)",
            "level: false",
        ],
    );
}

#[test]
fn comparisons_and_named_filters_show_what_they_look_at() {
    check(
        "filter g { not program('ssh' type(string)); }; filter f { filter(g) or '${PID}' > 7; };",
        "prog=ssh pid=12",
        &[
            "filter(called-rule=g)",
            "program(name=PROGRAM value=ssh pattern=ssh)",
            "program: true",
            "filter: false",
            "cmp(left=12 operator=> right=7 left-is=${PID} compared-as=numbers)",
            "cmp: true",
        ],
    );
}

#[test]
fn sender_and_tags() {
    check(
        "filter f { tags('a') or netmask('10.0.0.0/8'); };",
        "tag=written.b peer=10.1.2.3",
        &[
            "tags(tags=written.b asks-for=a)",
            "tags: false",
            "netmask(address=10.1.2.3 asks-for=10.0.0.0/8)",
            "netmask: true",
        ],
    );
}

#[test]
fn what_is_asked_for_is_told_beside_what_is_seen() {
    check(
        "filter f { facility(auth, local0..local3) or level(err..emerg); };",
        "fac=mail sev=info",
        &[
            "facility(facility=mail severity=info asks-for=auth, local0..local3)",
            "facility: false",
            "level(facility=mail severity=info asks-for=err..emerg)",
            "level: false",
        ],
    );
    // A number in quotes is a text, and 7 stands behind 100 then.
    check(
        "filter f { '${PID}' > '100' and '${PID}' eq '7' and 'a' ne '${PID}'; };",
        "pid=7",
        &[
            "cmp(left=7 operator=> right=100 left-is=${PID} compared-as=texts)",
            "cmp: true",
            "cmp(left=7 operator=eq right=7 left-is=${PID})",
            "cmp: true",
            "cmp(left=a operator=ne right=7 right-is=${PID})",
            "cmp: true",
        ],
    );
    check(
        "filter f { '${none}' == '' or '${none}' > 5; };",
        "pid=7",
        &[
            "cmp(left= operator=== right= left-is=${none} compared-as=a value that is not set)",
            "cmp: false",
            "cmp(left= operator=> right=5 left-is=${none} compared-as=numbers)",
            "cmp: false",
        ],
    );
}
