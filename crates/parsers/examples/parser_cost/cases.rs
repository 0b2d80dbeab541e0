//! The inputs: each parser without a case of `penstock bench` has one under its own name, which its manual
//! page gives.

/// A parser and messages that all match.
pub struct Case {
    /// The component.
    pub parser: &'static str,
    pub what: &'static str,
    /// The call.
    pub text: String,
    /// The names that something reads; everything without them.
    pub used: Option<&'static [&'static str]>,
    /// What every message has before.
    pub values: &'static [(&'static str, &'static str)],
    /// In turn.
    pub messages: Vec<String>,
}

type Used = Option<&'static [&'static str]>;

fn case(parser: &'static str, what: &'static str, text: &str, used: Used, messages: Vec<String>) -> Case {
    Case { parser, what, text: text.to_owned(), used, values: &[], messages }
}

fn one(message: &str) -> Vec<String> {
    vec![message.to_owned()]
}

pub fn all() -> Vec<Case> {
    [fields(), trees(), formats(), addresses(), correlated(), values()].into_iter().flatten().collect()
}

/// Keys and values, columns, lists.
fn fields() -> Vec<Case> {
    let kv: String = (0..25).map(|n| format!("key{n:02}=value{:04} ", n * 37)).collect();
    let quoted: String = (0..25).map(|n| format!("key{n:02}=\"a value{n}\" ")).collect();
    let csv: String = (0..20).map(|n| format!("column value {n}")).collect::<Vec<_>>().join(",");
    let columns: String = (0..20).map(|n| format!("\".c.c{n:02}\" ")).collect();
    let csv_parser = format!("csv-parser(columns({columns}) delimiters(\",\"))");
    let three: Used = Some(&[".k.key03", ".k.key11", ".k.key24"]);
    let kv_parser = "kv-parser(prefix(\".k.\"))";
    let of_loggen: Used = Some(&[".k.user", ".k.act", ".k.code"]);
    let audit = "type=SYSCALL msg=audit(1441988805.991:239): arch=c000003e syscall=59 success=yes exit=0 a0=7fe49a6d0e98 \
                 items=2 ppid=3652 pid=3660 auid=1000 uid=0 gid=0 tty=(none) ses=5 comm=\"apparmor\" \
                 proctitle=2F62696E2F7368002F6574632F696E69742E642F61 key=(null)";
    let audit_parser = "linux-audit-parser(prefix(\".auditd.\"))";
    let audit_used: Used = Some(&[".auditd.type", ".auditd.pid", ".auditd.proctitle"]);
    let sdata: String = (0..12).map(|n| format!(" name{n:02}=\"value {n}\"")).collect();
    let sdata = format!("[origin@32473{sdata}][meta sequenceId=\"17\"]");
    let sdata_parser = "sdata-parser(prefix(\".s.\"))";
    let sdata_used: Used = Some(&[".s.origin@32473.name03", ".s.meta.sequenceId"]);
    vec![
        case("kv-parser", "3 of 21 used, of loggen", kv_parser, of_loggen, loggen(false)),
        case("kv-parser", "3 of 25 used", kv_parser, three, one(&kv)),
        case("kv-parser", "quoted, 3 of 25 used", kv_parser, three, one(&quoted)),
        case("kv-parser", "all 25 used", kv_parser, None, one(&kv)),
        case("linux-audit-parser", "3 of 18 used, one in hexadecimal", audit_parser, audit_used, one(audit)),
        case("linux-audit-parser", "all used", audit_parser, None, one(audit)),
        case("csv-parser", "3 of 20 used", &csv_parser, Some(&[".c.c02", ".c.c10", ".c.c19"]), one(&csv)),
        case(
            "csv-parser",
            "first 3 of 20 used",
            &csv_parser,
            Some(&[".c.c00", ".c.c01", ".c.c02"]),
            one(&csv),
        ),
        case("csv-parser", "all 20 used", &csv_parser, None, one(&csv)),
        case("sdata-parser", "2 of 13 used", sdata_parser, sdata_used, one(&sdata)),
        case("sdata-parser", "all used", sdata_parser, None, one(&sdata)),
        case("tags-parser", "5 words", "tags-parser()", None, one("web,frontend,prod,\"eu west\",tier1")),
    ]
}

/// Members and elements in each other.
fn trees() -> Vec<Case> {
    let members = (0..13).map(|n| format!("\"field{n:02}\":\"value num {n}\",")).collect::<String>();
    let json = format!(
        "{{{members}\"n\":12345,\"d\":1.5,\"b\":true,\"o\":{{\"x\":{{\"y\":\"deep\"}},\"z\":[1,2,3]}}}}"
    );
    let json_parser = "json-parser(prefix(\".j.\"))";
    let four: Used = Some(&[".j.field03", ".j.field11", ".j.n", ".j.o.x.y"]);
    let of_loggen: Used = Some(&[".j.user", ".j.src", ".j.code", ".j.nest.b"]);
    let data: String = (0..22).map(|n| format!("<f{n:02}>val{n}</f{n:02}>")).collect();
    let xml = format!("<event id=\"17\" host='web'><data>{data}</data></event>");
    let xml_used: Used = Some(&[".x.event.data.f03", ".x.event.data.f12", ".x.event.data.f21"]);
    let data: String = (0..16).map(|n| format!("<Data Name='Field{n:02}'>value {n}</Data>")).collect();
    let windows = format!(
        "<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><System><Provider Name='Security'/>\
         <EventID>4624</EventID><Level>0</Level><Computer>dc1</Computer></System><EventData>{data}</EventData></Event>"
    );
    let windows_parser = "windows-eventlog-xml-parser(prefix(\".w\"))";
    let windows_used: Used = Some(&[".w.Event.System.EventID", ".w.Event.EventData.Data.Field03"]);
    vec![
        case("json-parser", "4 used, one nested", json_parser, four, one(&json)),
        case("json-parser", "4 of 24 used, of loggen", json_parser, of_loggen, loggen(true)),
        case("json-parser", "all used", json_parser, None, one(&json)),
        case("xml", "3 of 24 elements used", "xml(prefix(\".x\"))", xml_used, one(&xml)),
        case("xml", "all used", "xml(prefix(\".x\"))", None, one(&xml)),
        case("windows-eventlog-xml-parser", "2 of 21 used", windows_parser, windows_used, one(&windows)),
        case("windows-eventlog-xml-parser", "all used", windows_parser, None, one(&windows)),
    ]
}

/// Texts of one program or standard.
fn formats() -> Vec<Case> {
    let pairs =
        "src=10.0.0.1 dst=2.1.2.2 spt=1232 dpt=443 act=blocked request=/index.html msg=two words\\=here";
    let cef = format!("CEF:0|Security|manager|1.0|100|worm stopped|10|{pairs} suser=root duser=admin");
    let leef = format!("LEEF:1.0|vendor|product|1.0|41|{}\tusrName=root", pairs.replace(' ', "\t"));
    let trap = "2017-05-10 12:46:14 h [UDP: [127.0.0.1]:34257->[127.0.0.1]:162]:\n\
                iso.3.6.1.2.1.1.3.0 = Timeticks: (875496867) 101 days, 7:56:08.67\t\
                iso.3.6.1.6.3.1.1.4.1.0 = OID: iso.3.6.1.4.1.8072.2.3.0.1\t\
                iso.3.6.1.4.1.8072.2.3.2.1 = INTEGER: 60\tIF-MIB::ifDescr.2 = STRING: \"eth0\"";
    let old =
        "<38>Nov 22 00:00:00 web1 sshd[1234]: Accepted publickey for root from 10.0.0.1 port 51234 ssh2";
    let new = "<38>1 2026-11-22T00:00:00.003Z web1 sshd 1234 ID47 [meta sequenceId=\"17\" ip=\"10.0.0.1\"] Accepted \
               publickey for root";
    let header: Used = Some(&["HOST", "PROGRAM", "PID", "MESSAGE"]);
    let cef_used: Used = Some(&[".c.name", ".c.extensions.src", ".c.extensions.act"]);
    let leef_used: Used = Some(&[".l.event_id", ".l.extensions.src", ".l.extensions.act"]);
    let trap_parser = "snmptrapd-parser(prefix(\".t.\") set-message-macro(no))";
    let trap_used: Used = Some(&[".t.hostname", ".t.IF-MIB_ifDescr.2"]);
    vec![
        case("cef-parser", "3 of 16 used", "cef-parser(prefix(\".c.\"))", cef_used, one(&cef)),
        case("cef-parser", "all used", "cef-parser(prefix(\".c.\"))", None, one(&cef)),
        case("leef-parser", "3 of 13 used", "leef-parser(prefix(\".l.\"))", leef_used, one(&leef)),
        case("leef-parser", "all used", "leef-parser(prefix(\".l.\"))", None, one(&leef)),
        case("snmptrapd-parser", "2 of 6 used, no message", trap_parser, trap_used, one(trap)),
        case("snmptrapd-parser", "all used", "snmptrapd-parser(prefix(\".t.\"))", None, one(trap)),
        case("syslog-parser", "RFC 3164", "syslog-parser()", header, one(old)),
        case("syslog-parser", "RFC 5424", "syslog-parser(flags(syslog-protocol))", header, one(new)),
    ]
}

/// Addresses of the database of the golden cases, which has few networks: a walk through a large one meets
/// the memory more often.
fn addresses() -> Vec<Case> {
    let database = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/parser/geoip2.mmdb");
    let text = format!("geoip2(\"$MESSAGE\" prefix(\".g\") database(\"{database}\"))");
    let known = || (0..255).map(|n| format!("192.168.1.{n}")).collect();
    vec![
        case("geoip2", "a country", &text, Some(&[".g.country.iso_code"]), known()),
        case("geoip2", "all used, of records with a country", &text, None, known()),
    ]
}

/// Groups of four messages for each host.
fn correlated() -> Vec<Case> {
    let of_group = |index: usize, first: &str, between: &str, last: &str| match index / super::HOSTS % 4 {
        0 => first.to_owned(),
        3 => last.to_owned(),
        _ => between.to_owned(),
    };
    let messages = |first, between, last| {
        (0..4 * super::HOSTS).map(|index| of_group(index, first, between, last)).collect::<Vec<_>>()
    };
    let grouping = "grouping-by(key(\"$HOST\") timeout(30) trigger(message(\"logout\")) \
                    aggregate(value(\"count\" \"$(context-length)\") tags(\"session\")))";
    let lines = "group-lines(key(\"$HOST\") timeout(10) multi-line-mode(indented))";
    let session = messages("login of root", "root ran a command", "logout of root");
    let call = "\tat org.one.two.Three.four(Three.java:17)";
    let trace = messages("java.lang.RuntimeException: out of luck", call, call);
    vec![
        case("grouping-by", "4 messages a group", grouping, Some(&["MESSAGE", "count"]), session),
        case("group-lines", "4 lines a message", lines, Some(&["MESSAGE"]), trace),
    ]
}

/// What is made of values that are there.
fn values() -> Vec<Case> {
    let values =
        &[(".app.user", "root"), (".app.action", "login"), (".app.result", "good"), (".kv.user", "root")];
    let pairs = "map-value-pairs(key(\".app.*\" rekey(shift(5))) pair(\"from\" \"$HOST\"))";
    let probe =
        "metrics-probe(key(\"logins_total\") labels(\"user\" => \"${.kv.user}\" \"host\" => \"$HOST\"))";
    let text = one("root logged in");
    vec![
        Case { values, ..case("map-value-pairs", "a glob and a pair, 4 made", pairs, None, text.clone()) },
        Case { values, ..case("metrics-probe", "2 labels, 16 counters", probe, Some(&[]), text) },
    ]
}

/// The fields of `penstock loggen --body json` and `kv`: their lengths change from message to message, so
/// that nothing can be foreseen.
fn loggen(json: bool) -> Vec<String> {
    (0..super::MESSAGES).map(|n| line(n * 7, json)).collect()
}

fn line(index: usize, json: bool) -> String {
    let one = |choices: &[&str]| choices[index % choices.len()].to_owned();
    let text = |name, value| (name, value, false);
    let number = |name, value: usize| (name, value.to_string(), true);
    let fields = [
        text("user", format!("u{}", index % 100)),
        text("src", format!("10.0.{}.{}", index % 7, index % 250)),
        text("dst", format!("10.9.8.{}", index % 11)),
        number("sp", 1024 + index),
        number("dp", [22, 80, 443][index % 3]),
        text("prot", one(&["tcp", "udp"])),
        text("act", one(&["allow", "deny"])),
        number("len", 40 + index % 1400),
        number("code", 200 + index % 5),
        text("meth", one(&["GET", "PUT"])),
        text("zone", one(&["in", "out", "dmz"])),
        text("if", one(&["eth0", "eth1"])),
        number("rule", index % 90),
        text("lvl", one(&["low", "mid"])),
        text("dept", one(&["it", "hr", "ops"])),
        text("os", one(&["lnx", "win"])),
        text("cc", one(&["de", "hu", "us"])),
        number("dur", index % 60),
        number("pkts", 1 + index % 30),
        number("id", 10_000 + index),
    ];
    let plain = |(name, value, _): &(&str, String, bool)| format!("{name}={value} ");
    let member = |(name, value, number): &(&str, String, bool)| match number {
        true => format!("\"{name}\":{value},"),
        false => format!("\"{name}\":\"{value}\","),
    };
    let tail = "connection closed by the peer after some time ".repeat(3);
    if json {
        let members: String = fields.iter().map(member).collect();
        let head = format!("{{\"stamp\":\"2026-11-22T00:00:00.000000+00:00\",{members}");
        format!("{head}\"ok\":true,\"nest\":{{\"a\":1,\"b\":\"x\"}},\"text\":\"{}\"}}", &tail[..66])
    } else {
        let pairs: String = fields.iter().map(plain).collect();
        format!("2026-11-22T00:00:00.000000+00:00 {pairs}text=\"{}\"", &tail[..136])
    }
}
