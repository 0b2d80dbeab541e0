//! Counters under syslog-ng's names: there from the start, by kind, and of named log paths.

use crate::messages::HEAD;
use crate::tls::{block_of, prepared};
use testkit::{Lab, Penstock, Sender, wait_until};

const LEVEL: &str = "options { stats(level(1)); };\n";

/// The value of the metric whose line begins so.
fn metric(text: &str, begins: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(begins))?;
    line.rsplit_once(' ')?.1.parse().ok()
}

#[test]
fn objects_that_have_seen_nothing_are_there_with_zero() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}{LEVEL}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         filter f_one {{ program(\"one\"); }}; parser p_csv {{ csv-parser(columns(\"a\")); }};\n\
         destination d {{ file(\"%dir%/out\"); }}; destination made {{ file(\"%dir%/of/$PROGRAM\"); }};\n\
         log whole {{ source(s); filter(f_one); parser(p_csv); destination(d); }};\n\
         log {{ source(s); destination(made); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let (stats, metrics) = (penstock.stats(), penstock.request("STATS PROMETHEUS"));
    let out = lab.path("out").display().to_string();
    for line in [
        format!("dst.file;d#0;{out};a;processed;0"),
        format!("dst.file;d#0;{out};a;written;0"),
        format!("dst.file;d#0;{out};a;dropped;0"),
        format!("dst.file;d#0;{out};a;queued;0"),
        "filter;f_one;;a;matched;0".to_owned(),
        "filter;f_one;;a;not_matched;0".to_owned(),
        "parser;p_csv;;a;processed;0".to_owned(),
        "parser;p_csv;;a;discarded;0".to_owned(),
        "source;s;;a;processed;0".to_owned(),
        "destination;d;;a;processed;0".to_owned(),
        "destination;made;;a;processed;0".to_owned(),
    ] {
        assert!(stats.lines().any(|l| l == line), "{line}\n{stats}");
    }
    assert!(!stats.contains("dst.file;made#0;"), "no file has that name yet\n{stats}");
    for begins in [
        "syslogng_route_ingress_total{id=\"whole\"}",
        "syslogng_route_egress_total{id=\"whole\"}",
        "syslogng_filtered_events_total{id=\"f_one\",result=\"matched\"}",
        "syslogng_parsed_events_total{id=\"p_csv\",result=\"discarded\"}",
        "syslogng_output_event_bytes_total{id=\"d#0\"",
        "syslogng_output_events_total{id=\"d#0\"",
        "syslogng_input_events_total{id=\"s#0\"",
        "syslogng_socket_connections{id=\"s\"",
    ] {
        assert_eq!(metric(&metrics, begins), Some(0), "{begins}\n{metrics}");
    }
    for reason in [
        "invalid-frame-header",
        "frame-too-long",
        "unfinished-frame",
        "protocol",
        "tls-handshake",
        "proxy-header",
    ] {
        assert_eq!(errors(&metrics, "s#0", reason), Some(0), "{reason}\n{metrics}");
    }
    penstock.stop();
}

/// As syslog-ng names them: SC4S has several on each port.
#[test]
fn sources_that_share_a_port_are_counted_apart() {
    let lab = Lab::new();
    let source = |number| {
        format!("network(ip(127.0.0.1) port(%tcp:in%) so-reuseport(1) persist-name(\"tcp_{number}\"));")
    };
    let config = format!(
        "{HEAD}{LEVEL}source s {{ {} {} }};\ndestination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); destination(d); }};\n",
        source(1),
        source(2)
    );
    let penstock = Penstock::start(&lab, &config);
    let (stats, metrics) = (penstock.stats(), penstock.request("STATS PROMETHEUS"));
    for number in [1, 2] {
        let line = format!("src.network;s;afsocket_sd.tcp_{number};a;connections;0");
        assert!(stats.lines().any(|l| l == line), "{line}\n{stats}");
        let begins = format!(
            "syslogng_socket_connections{{id=\"s\",driver_instance=\"tcp_{number}\",direction=\"input\"}}"
        );
        assert_eq!(metric(&metrics, &begins), Some(0), "{begins}\n{metrics}");
    }
    penstock.stop();
}

/// As syslog-ng names them: SC4S makes dimensions of what stands between the commas.
#[test]
fn destinations_have_one_address_or_their_persist_name_in_their_names() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}{LEVEL}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         python {{\nimport syslogng\nclass To(syslogng.LogDestination):\n    def send(self, msg): return self.SUCCESS\n}};\n\
         destination two {{ http(url(\"http://127.0.0.1:1/a http://127.0.0.1:1/b\") persist-name(\"x\")); }};\n\
         destination named {{ python(class(\"To\") persist-name(\"cache\")); }}; destination plain {{ python(class(\"To\")); }};\n\
         log {{ source(s); destination(two); destination(named); destination(plain); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let stats = penstock.stats();
    for line in [
        "dst.http;two#0;http,http://127.0.0.1:1/a;a;queued;0",
        "dst.python;named#0;python,cache;a;queued;0",
        "dst.python;plain#0;python,To;a;queued;0",
    ] {
        assert!(stats.lines().any(|l| l == line), "{line}\n{stats}");
    }
    penstock.stop();
}

/// What a source says of an error of transport.
fn errors(metrics: &str, id: &str, reason: &str) -> Option<u64> {
    let named = format!("reason=\"{reason}\"");
    let begins = format!("syslogng_input_transport_errors_total{{id=\"{id}\"");
    let line = metrics.lines().find(|line| line.starts_with(&begins) && line.contains(&named))?;
    line.rsplit_once(' ')?.1.parse().ok()
}

#[test]
fn named_log_paths_count_what_comes_in_and_what_goes_out() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}{LEVEL}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$MSG\\n\")); }};\n\
         log \"by-text\" {{ source(s); filter {{ program(\"one\"); }}; destination(d); }};\n\
         log by_word {{ source(s); filter {{ program(\"two\"); }}; destination(d); flags(final); }};\n\
         log last {{ source(s); filter {{ program(\"none\"); }}; destination(d); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    for (program, count) in [("one", 3), ("two", 2), ("other", 1)] {
        (0..count).for_each(|n| sender.line(&format!("<13>Nov 11 01:02:03 host {program}: {n}")));
    }
    penstock.wait_settled(6);
    let metrics = penstock.request("STATS PROMETHEUS");
    for (name, ingress, egress) in [("by-text", 6, 3), ("by_word", 6, 2), ("last", 4, 0)] {
        let count = |what: &str| metric(&metrics, &format!("syslogng_route_{what}_total{{id=\"{name}\"}}"));
        assert_eq!((count("ingress"), count("egress")), (Some(ingress), Some(egress)), "{name}\n{metrics}");
    }
    assert_eq!(lab.lines("out").len(), 5);
    penstock.stop();
}

#[test]
fn errors_of_transport_count_by_kind() {
    let lab = Lab::new();
    let _authority = prepared(&lab);
    let tls = block_of("server");
    let config = format!(
        "{HEAD}{LEVEL}options {{ log-msg-size(1000); }};\n\
         source framed {{ syslog(ip(127.0.0.1) port(%tcp:framed%) transport(tcp)); }};\n\
         source secured {{ network(ip(127.0.0.1) port(%tcp:tls%) transport(tls) {tls}); }};\n\
         source proxied {{ network(ip(127.0.0.1) port(%tcp:proxied%) transport(proxied-tcp)); }};\n\
         source relp {{ relp(ip(127.0.0.1) port(%tcp:relp%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(framed); source(secured); source(proxied); source(relp); destination(d); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    // Twice, so that what counts is the number and not that there was one.
    for _ in 0..2 {
        for (port, bytes) in [
            ("framed", &b"INVALID FRAME HEADER\n"[..]),
            ("framed", b"5000 <13>1 - - - - - - x"),
            ("framed", b"50 <13>1 -"),
            ("tls", b"THIS IS NOT A HANDSHAKE\n"),
            ("proxied", b"NO HEADER OF A PROXY\r\n"),
            ("relp", b"no transaction number\n"),
        ] {
            let mut sender = Sender::tcp(lab.port(port));
            sender.raw(bytes);
            sender.finish();
        }
    }
    let expected = [
        ("framed#0", "invalid-frame-header"),
        ("framed#0", "frame-too-long"),
        ("framed#0", "unfinished-frame"),
        ("secured#0", "tls-handshake"),
        ("proxied#0", "proxy-header"),
        ("relp#0", "protocol"),
    ];
    for (id, reason) in expected {
        wait_until(&format!("{reason} of {id}"), || {
            errors(&penstock.request("STATS PROMETHEUS"), id, reason) == Some(2)
        });
    }
    let metrics = penstock.request("STATS PROMETHEUS");
    let all = metrics.lines().filter(|line| line.starts_with("syslogng_input_transport_errors_total"));
    let counted: u64 = all.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
    assert_eq!(counted, 12, "each counts once\n{metrics}");
    penstock.stop();
}

/// What csv-parser() refuses, for its columns or for their types, counts as discarded, whether or not anybody
/// reads the columns.
#[test]
fn what_a_csv_parser_refuses_counts_as_discarded() {
    for (template, options) in [
        ("$MSG", "drop-invalid(yes)"),
        ("$MSG ${a} ${b}", "flags(drop-invalid)"),
        ("$MSG", "on-type-error(drop-message)"),
    ] {
        let lab = Lab::new();
        let config = format!(
            "{HEAD}{LEVEL}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             parser p_csv {{ csv-parser(columns(int(\"a\"), \"b\") delimiters(\",\") {options}); }};\n\
             destination d {{ file(\"%dir%/out\" template(\"{template}\\n\")); }};\n\
             log p {{ source(s); parser(p_csv); destination(d); }};\n"
        );
        let mut penstock = Penstock::start(&lab, &config);
        let mut sender = Sender::tcp(lab.port("in"));
        // Good, of a wrong type, too few, good.
        for text in ["1,x", "one,x", "1", "2,y"] {
            sender.line(&format!("<13>Nov 11 01:02:03 host p: {text}"));
        }
        let ledger = penstock.wait_settled(4);
        let (stats, metrics) = (penstock.stats(), penstock.request("STATS PROMETHEUS"));
        penstock.stop();
        let arrived: Vec<String> =
            lab.lines("out").iter().filter_map(|l| l.split(' ').next().map(str::to_owned)).collect();
        assert_eq!(arrived, ["1,x", "2,y"], "{options}");
        let path = ledger.paths.iter().find(|path| path.name == "p").expect("the path");
        assert_eq!((path.delivered, path.filtered), (2, 2), "{ledger}");
        assert!(stats.contains("parser;p_csv;;a;discarded;2\n"), "{options}\n{stats}");
        assert!(stats.contains("parser;p_csv;;a;processed;2\n"), "{options}\n{stats}");
        let discarded = metric(&metrics, "syslogng_parsed_events_total{id=\"p_csv\",result=\"discarded\"}");
        assert_eq!(discarded, Some(2), "{options}");
    }
}

/// As syslog-ng counts them: a call counts what it decided, and one that was not needed counts nothing. The
/// branches here are asked together otherwise, cheap conditions first.
#[test]
fn filters_that_others_call_count_what_they_were_asked() {
    let lab = Lab::new();
    let logs: String = ["f_both", "f_any", "f_not", "f_deep", "f_plain"]
        .iter()
        .map(|name| format!("log {{ source(s); filter({name}); destination(d); }};\n"))
        .collect();
    let config = format!(
        "{HEAD}{LEVEL}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         filter f_app {{ program(\"app\"); }}; filter f_warm {{ message(\"warm\"); }}; filter f_mail {{ facility(mail); }};\n\
         filter f_idle {{ program(\"idle\"); }}; filter f_when {{ message(\"cold\"); }}; filter f_if {{ facility(user); }};\n\
         filter f_both {{ message(\"warm\") and filter(f_app); }};\n\
         filter f_any {{ filter(f_warm) or filter(f_mail); }};\n\
         filter f_not {{ not filter(f_mail) and facility(mail); }};\n\
         filter f_inner {{ filter(f_when); }}; filter f_deep {{ program(\"other\") and filter(f_inner); }};\n\
         filter f_plain {{ program(\"none\") and filter(f_idle); }};\n\
         rewrite r {{ set(\"x\" value(\"X\") condition(filter(f_cond))); }}; filter f_cond {{ facility(mail); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$MSG\\n\")); }};\n\
         destination d_if {{ file(\"%dir%/if\" template(\"$(if 'filter(f_if)' yes no)\\n\")); }};\n\
         {logs}log {{ source(s); rewrite(r); destination(d_if); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let named = |stats: &str, name: &str| {
        let of = |kind: &str| {
            let begins = format!("filter;{name};;a;{kind};");
            let line = stats.lines().find_map(|line| line.strip_prefix(&begins).map(str::to_owned));
            line.and_then(|number| number.parse::<u64>().ok())
        };
        of("matched").zip(of("not_matched"))
    };
    for name in ["f_app", "f_warm", "f_mail", "f_idle", "f_when", "f_inner", "f_cond", "f_if"] {
        assert_eq!(named(&penstock.stats(), name), Some((0, 0)), "{name}");
    }
    let mut sender = Sender::tcp(lab.port("in"));
    // mail is <22>, user <14>: two, three, one and four messages.
    for (count, text) in [
        (2, "<22>Nov 11 01:02:03 host app: warm"),
        (3, "<14>Nov 11 01:02:03 host app: cold"),
        (1, "<14>Nov 11 01:02:03 host other: warm"),
        (4, "<22>Nov 11 01:02:03 host other: cold"),
    ] {
        (0..count).for_each(|_| sender.line(text));
    }
    penstock.wait_settled(10);
    let check = |stats: &str, times: u64| {
        for (name, matched, not_matched) in [
            // Asked of the warm ones.
            ("f_app", 2, 1),
            ("f_warm", 3, 7),
            // Asked of the cold ones by f_any, and of all by f_not.
            ("f_mail", 4 + 6, 3 + 4),
            // Asked of those of `other`, through f_inner.
            ("f_inner", 4, 1),
            ("f_when", 4, 1),
            ("f_idle", 0, 0),
            ("f_cond", 6, 4),
            ("f_if", 4, 6),
            ("f_both", 2, 8),
        ] {
            assert_eq!(named(stats, name), Some((matched * times, not_matched * times)), "{name}\n{stats}");
        }
    };
    check(&penstock.stats(), 1);
    // Message by message, as they are asked while somebody watches, it is the same.
    penstock.request("LOG TRACE ON");
    for (count, text) in [
        (2, "<22>Nov 11 01:02:03 host app: warm"),
        (3, "<14>Nov 11 01:02:03 host app: cold"),
        (1, "<14>Nov 11 01:02:03 host other: warm"),
        (4, "<22>Nov 11 01:02:03 host other: cold"),
    ] {
        (0..count).for_each(|_| sender.line(text));
    }
    penstock.wait_settled(20);
    check(&penstock.stats(), 2);
    penstock.stop();
}

#[test]
fn metrics_of_a_level_count_from_the_first_message_on() {
    let lab = Lab::new();
    let lines: String = (0..200).map(|n| format!("<13>Nov 23 10:00:00 web app: {n}\n")).collect();
    std::fs::write(lab.path("in"), lines).unwrap();
    let config = format!(
        "{HEAD}options {{ stats(level(3)); }};\n\
         source s {{ file(\"%dir%/in\" read-old-records(yes)); }}; destination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); parser {{ metrics-probe(key(\"probed\") level(3)); }};\n\
         filterx {{ update_metric(\"updated\", level=3); }}; destination(d); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    wait_until("all lines", || lab.lines("out").len() == 200);
    let metrics = penstock.request("STATS PROMETHEUS");
    for name in ["syslogng_probed", "syslogng_updated"] {
        assert_eq!(metric(&metrics, name), Some(200), "{name}\n{metrics}");
    }
}
