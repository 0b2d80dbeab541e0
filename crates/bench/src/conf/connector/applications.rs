//! The applications of the configuration: those of the devices in the mixture, and many for other devices.

use std::fmt::Write;

#[derive(Default)]
pub struct Applications {
    pub text: String,
}

/// Devices told by PROGRAM: the expression, vendor, product, and the template of the event.
const PROGRAMS: [(&str, &str, &str, &str); 17] = [
    (
        "program('RT_FLOW' type(string) flags(prefix)) or program('RT_IDP' type(string) flags(prefix)) or program('rpd' type(string) flags(prefix)) or (program('ifinfo' type(string)) and message('^PVIDB'))",
        "juno",
        "router",
        "",
    ),
    (
        "program('Hostd' type(string) flags(ignore-case, prefix)) or program('vpxa' type(string) flags(ignore-case, prefix)) or program('vmk' type(string) flags(ignore-case, prefix)) or program('eam' type(string) flags(ignore-case, prefix)) or program('fdm' type(string) flags(ignore-case)) or program('crx-cli' type(string) flags(ignore-case, prefix)) or program('healthd' type(string) flags(ignore-case, prefix))",
        "vm",
        "esx",
        "t_compact",
    ),
    (
        "program('tmm' type(string) flags(prefix)) or program('mcpd' type(string) flags(prefix)) or program('ASM:' type(string) flags(prefix))",
        "five",
        "balancer",
        "t_head",
    ),
    (
        "program('named' type(string) flags(prefix)) or program('client' type(string))",
        "names",
        "server",
        "t_text",
    ),
    ("program('dhcpd' type(string))", "lease", "server", ""),
    (
        "program('sshd' type(string)) or program('sudo' type(string)) or program('CRON' type(string)) or program('systemd' type(string) flags(prefix))",
        "nix",
        "syslog",
        "t_old_head",
    ),
    ("program('kernel' type(string)) and message('IN=' type(string) flags(substring))", "nix", "packets", ""),
    ("program('filterlog' type(string))", "sense", "filter", "t_head"),
    ("program('postfix/' type(string) flags(prefix))", "mail", "postfix", ""),
    ("program('squid' type(string) flags(prefix))", "web", "squid", "t_text"),
    ("program('MSWinEventLog' type(string) flags(prefix))", "windows", "snare", "t_text"),
    (
        "program('stm' type(string)) or program('authmgr' type(string)) or program('sapd' type(string))",
        "air",
        "controller",
        "",
    ),
    ("program('TUNNEL' type(string))", "tunnel", "router", ""),
    ("program('agentd' type(string))", "agent", "box", ""),
    ("program('CISE_' type(string) flags(prefix))", "ise", "auth", "t_program"),
    ("program('CheckPoint' type(string))", "point", "gateway", "t_compact"),
    ("program('gate' type(string) flags(prefix))", "gate", "app", "t_compact"),
];

impl Applications {
    /// A macro with the application that calls it.
    fn add(&mut self, name: &str, topic: &str, filter: &str, body: &str) {
        let _ = writeln!(
            self.text,
            "block parser {name}() {{\n    channel {{\n{body}\n    }};\n}};\napplication {name}[{topic}] {{\n    \
             filter {{ {filter}; }};\n    parser {{ {name}(); }};\n}};"
        );
    }

    /// What an application sets first.
    fn first(vendor: &str, product: &str, template: &str) -> String {
        let template = if template.is_empty() { String::new() } else { format!(" template('{template}')") };
        format!(
            "        rewrite {{ r_first(index('net{vendor}') sourcetype('{vendor}:{product}') vendor('{vendor}') \
             product('{product}'){template}); }};"
        )
    }

    /// Applications of the devices in the mixture.
    pub fn known(&mut self) {
        self.almost();
        for (number, (filter, vendor, product, template)) in PROGRAMS.iter().enumerate() {
            let mut body = Self::first(vendor, product, template);
            match number % 4 {
                0 => body.push_str(&cases(vendor, product)),
                1 => body.push_str(&changes(vendor)),
                _ => {}
            }
            self.add(&format!("pgm-{vendor}-{product}"), "pgm", filter, &body);
        }
        self.structured();
        self.texts();
        self.rest();
    }

    fn almost(&mut self) {
        let header = r#"
        parser {
            syslog-parser(flags(assume-utf8, no-header));
            csv-parser(delimiters(chars('') strings(': %')) columns('header', 'message') prefix('.tmp.') flags(greedy, drop-invalid));
            regexp-parser(prefix(".values.") template("%${.tmp.message}")
                patterns('^(%(?<identifier>.+)-(?<severity>[0-7])-(?<mnemonic>[^\: ]+))(?<separator> ?[: ]) *(?<message>.*)'));
        };
        filter {
            (("${.values.identifier}" eq "ACE" or "${.values.identifier}" eq "ASA" or "${.values.identifier}" eq "FWSM"
              or match(': ?|\*' value('.tmp.header')) or match('[A-Z]{3,4}:?$' value('.tmp.header')) or match('\d+:?$' value('.tmp.header')))
             and not match('[a-z]\S+$' value('.tmp.header')) and not match(' \w+\[\d+\]$' value('.tmp.header')))
            or match('LICENSE' value('.values.identifier') type(string) flags(prefix))
        };
        if {
            parser {
                regexp-parser(prefix(".tmp.") template('${.tmp.header}')
                    patterns('(?:[ ]|^(?<pri>\<\d+\>)|^)(?<host>(?<!\*)(?!\d{4,})(?!\w+\[)(?:[0-9A-Za-z\-_]{4,}|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}))'));
            };
            rewrite { set("${.tmp.host}" value("HOST") condition("${.tmp.host}" ne "")); };
        };
        if {
            parser {
                regexp-parser(prefix(".tmp.") template('${.tmp.header}')
                    patterns('(?<status>[\*\.])?(?:(?<stamp>\d+-\d+-\d+T\d+:\d+:\d+(?:\.\d+)?(?:Z|[\+-] *\d+:\d+)|[A-Z][a-z]{2} [ 0123]\d(?: \d{4})? \d\d:\d\d:\d\d(?: [AP]M)?(?:[^ :]+)?)(?: (?<tz>[A-Za-z]{1,4}))?)'));
            };
            if {
                filter { "${.tmp.status}" eq "." or "${.tmp.status}" eq "*" };
                rewrite { set("0" value("fields.timesync")); };
            } else {
                rewrite { set("1" value("fields.timesync")); };
            };
            parser { date-or-not(format('%b %d %H:%M:%S.%f', '%b %d %H:%M:%S', '%b %d %Y %H:%M:%S.%f', '%b %d %Y %H:%M:%S', '%Y-%m-%dT%T%z') template("${.tmp.stamp}")); };
        } elif {
            parser { regexp-parser(prefix(".values.") template('${.tmp.header}') patterns('(?<=: )(?<uptime>\d\d:\d\d:\d\d|\d+ \d)')); };
        } else {};
"#;
        let body = format!(
            "{header}{}\n        rewrite {{ set('%${{.tmp.message}}' value(\"MESSAGE\")); }};\n        rewrite(r_any); rewrite(r_old); \
             rewrite(r_known);\n        if {{ parser {{ app-parser(topic(cisco)); }}; }};",
            Self::first("cisco", "ios", "")
        );
        let filter = "message(': %' type(string) flags(substring)) and not message('junos' type(string) flags(substring))";
        self.add("almost-cisco", "almost", filter, &body);
        let body = format!(
            "        parser {{ syslog-parser(flags(assume-utf8, no-header)); kv-parser(prefix(\".values.\")); }};\n        \
             rewrite(r_any); rewrite(r_old);\n        rewrite {{ set(\"${{.values.devname}}\" value(\"HOST\") \
             condition(\"${{.values.devname}}\" ne \"\")); }};\n{}\n{}\n        rewrite(r_known);",
            Self::first("forti", "gate", "t_text"),
            changes("forti")
        );
        self.add("almost-forti", "almost", "message('^<\\d+>date=')", &body);
        for (name, text) in [("asa", "%ASA-"), ("nexus", "%DAEMON-"), ("link", "%LINK-")] {
            let filter = format!(
                "message('{text}' type(string) flags(prefix)) or (message('%X{text}' type(string) flags(prefix)) and not \
                 match(\"^43000.$\" value(\".values.mnemonic\")))"
            );
            self.add(&format!("cisco-{name}"), "cisco", &filter, &Self::first("cisco", name, ""));
        }
    }

    fn structured(&mut self) {
        for (name, text) in [("junos", "junos@2636"), ("meta", "meta@32473"), ("esx", "Originator@6876")] {
            let filter = format!("match('[{text}' value('SDATA') type(string) flags(prefix))");
            let body = Self::first(name, "structured", "t_compact") + &cases(name, "structured");
            self.add(&format!("sdata-{name}"), "sdata", &filter, &body);
        }
    }

    fn texts(&mut self) {
        let columns: Vec<String> = (1..=40).map(|n| format!("\"column{n}\"")).collect();
        let csv = format!(
            "parser {{ csv-parser(columns({}) prefix(\".values.\") delimiters(',') quote-pairs('\"\"') flags(escape-double-char)); }};",
            columns.join(",")
        );
        let mut body = Self::first("pan", "os", "t_text");
        let kinds = ["THREAT", "TRAFFIC", "SYSTEM", "CONFIG", "HIPMATCH", "USERID"];
        for (at, kind) in kinds.into_iter().enumerate() {
            let word = if at == 0 { "if" } else { "} elif" };
            let _ = write!(
                body,
                "\n        {word} (message(',{kind},' type(string) flags(substring))) {{ if {{ {csv} }}; rewrite {{ \
                 r_more(index('net{kind}') class('{kind}') sourcetype('pan:{kind}')); }};"
            );
        }
        body.push_str(" };");
        let filter = "message('1,' type(string) flags(prefix)) and match('^\\d,\\d{4}\\/\\d\\d\\/\\d\\d \\d\\d:\\d\\d:\\d\\d,' value(\"MESSAGE\"))";
        self.add("text-pan", "text", filter, &body);
        let cef = format!(
            "{}\n        parser {{ csv-parser(delimiters(chars('') strings('|')) columns('version', 'vendor', 'product', 'device', \
             'event', 'name', 'severity', 'ext') prefix('.meta.cef.') flags(greedy, drop-invalid)); kv-parser(prefix(\".values.\") \
             template(\"${{.meta.cef.ext}}\")); }};\n        rewrite {{ unset(value('.meta.cef.ext')); set-tag(\"structured\"); \
             r_first(vendor('${{.meta.cef.vendor}}') product('${{.meta.cef.product}}') class('${{.meta.cef.event}}') template('t_head')); }};\n        \
             if {{ filter {{ match('^.' value('.values.rt')) }}; parser {{ date-or-not(format('%s.%f', '%s', '%b %d %Y %T') template(\"${{.values.rt}}\")); }}; }};\n        \
             rewrite {{ set(\"${{.values.dvchost}}\" value(\"HOST\") condition(\"${{.values.dvchost}}\" ne \"\")); }};\n        \
             if {{ parser {{ app-parser(topic(cef)); }}; }};",
            Self::first("cef", "generic", "")
        );
        self.add("text-cef", "text", "message('CEF:0' type(string) flags(substring))", &cef);
        self.add("pgm-cef", "pgm", "program('CEF' type(string) flags(prefix))", &cef);
        let leef = Self::first("leef", "generic", "")
            + "\n        parser { csv-parser(delimiters('|') columns('version', 'vendor', 'product', 'device', 'event', 'separator', 'ext') \
               prefix('.meta.leef.') flags(greedy)); kv-parser(prefix(\".values.\") pair-separator(\"^\") template(\"${.meta.leef.ext}\")); };";
        self.add(
            "text-leef",
            "text",
            "message('LEEF:' type(string) flags(prefix)) or program('LEEF' type(string) flags(prefix))",
            &leef,
        );
        let json = "        parser { json-parser(prefix('.values.')); };\n".to_owned()
            + &Self::first("json", "generic", "t_values");
        self.add(
            "text-json",
            "text",
            "message('{' type(string) flags(prefix)) and message('}' type(string) flags(substring))",
            &json,
        );
    }

    fn rest(&mut self) {
        for (name, filter) in [
            ("brackets", "program('^\\[')"),
            ("comma", "program('^\\d+,\\d{4}/')"),
            ("quote", "program('[\\\"\\{\\}]')"),
            ("equals", "program('=')"),
        ] {
            self.add(
                &format!("program-{name}"),
                "program",
                filter,
                "        rewrite { set(\"x\" value(\".tmp.program\")); };",
            );
        }
        self.add("raw-none", "raw", "message('^device without ')", &Self::first("raw", "device", ""));
        self.add("raw-json", "raw", "message('^\\{.*\\}')", &Self::first("raw", "json", ""));
        self.add("fallback-any", "fallback", "message('.')", &Self::first("fallback", "any", ""));
        let filter = "\"${fields.vendor_product}\" eq \"pan_os\" and \"${.net.use}\" eq \"drop\"";
        self.add("drop-none", "drop", filter, "        rewrite(r_unwanted);");
        self.add("select-none", "select", "\"${.net.use}\" eq \"select\"", "        rewrite(r_unwanted);");
        self.add("format-none", "format", "\"${.net.use}\" eq \"format\"", "        rewrite(r_unwanted);");
        let group = "        parser { grouping-by(scope(host) key(\"${.values.serial}\") trigger(\"$(context-length)\" >= \"${.values.num}\") \
            sort-key(\"${.values.seq}\") aggregate(tags(\"agg\") value(\"MESSAGE\" \"$(implode '' $(context-values ${.values.message}))\") \
            inherit-mode(context)) timeout(10)); };\n        if { filter { not filter(f_aggregate) }; rewrite(r_unwanted); };";
        self.add(
            "final-group",
            "final",
            "program('GROUPED_' type(string) flags(prefix)) and \"${.values.num}\" != 1",
            group,
        );
        self.add(
            "vendor-none",
            "vendor",
            "\"${.net.vendor}\" ne \"\"",
            "        rewrite { set(\"${.net.vendor}\" value(\".net.vendor_product\")); };",
        );
    }

    /// Applications of devices that are not there.
    pub fn others(&mut self, topic: &str, count: usize) {
        for n in 0..count {
            let filter = match (topic, n % 4) {
                ("pgm", 0) => format!("program('device{n}' type(string))"),
                ("pgm", 1) => format!(
                    "program('maker{n}' type(string) flags(ignore-case, prefix)) or program('other{n}' type(string) flags(ignore-case, prefix))"
                ),
                ("pgm", 2) => format!(
                    "program('^unit{n}[a-c]+$') and message('unit {n}' type(string) flags(substring))"
                ),
                ("pgm", _) => format!(
                    "program('part{n}_' type(string) flags(prefix)) and not program('part{n}_x' type(string) flags(prefix))"
                ),
                ("network", _) => format!(
                    "(\"${{.net.vendor_product}}\" eq \"maker{n}_product\" or \"${{SOURCE}}\" eq \"s_MAKER{n}\") and \"${{fields.vendor_product}}\" eq \"\""
                ),
                ("text", 0) => format!("message('^maker{n}_[A-Z]+: ')"),
                ("text", 1) => format!("message('[maker{n} ' type(string) flags(substring))"),
                ("text", 2) => {
                    format!("message('MAKER{n}:' type(string) flags(prefix)) or message('^\\d+ maker{n}')")
                }
                ("text", _) => format!(
                    "message('maker{n}' type(string) flags(prefix)) and message('=maker' type(string) flags(substring))"
                ),
                ("cef", _) => format!(
                    "match('Maker{n}' value('.meta.cef.vendor')) and match('Product{n}' value('.meta.cef.product'))"
                ),
                ("almost", 0) => {
                    format!("message('^(?<pri>\\<\\d{{1,3}}\\>)1? ?\\d{{10,13}}\\.\\d{{9}} maker{n}')")
                }
                ("almost", _) => format!(
                    "message('^<\\d+>maker{n}:') or message('> maker{n} ' type(string) flags(substring))"
                ),
                ("sdata", _) => {
                    format!("match('[maker{n}@{}' value('SDATA') type(string) flags(prefix))", 30000 + n)
                }
                ("cisco", _) => format!("message('%MAKER{n}-' type(string) flags(prefix))"),
                (_, 0) => format!(
                    "\"${{fields.vendor}}\" eq \"maker{n}\" and \"${{fields.product}}\" eq \"product{n}\""
                ),
                (_, _) => format!(
                    "program('maker{n}' type(string) flags(prefix)) and \"${{.hec.template}}\" eq \"t_{n}\""
                ),
            };
            let (vendor, product) = (format!("maker{n}"), format!("product{n}"));
            let mut body = Self::first(&vendor, &product, "");
            if n % 5 == 0 {
                body.push_str(&cases(&vendor, &product));
            }
            self.add(&format!("{topic}-other{n}"), topic, &filter, &body);
        }
    }
}

/// `if`, `elif`, `else` that tell the kinds of a device's messages.
fn cases(vendor: &str, product: &str) -> String {
    let mut text = String::new();
    for (at, condition) in [
        "program('RT_IDP' type(string) flags(prefix))",
        "program('RT_FLOW' type(string) flags(prefix)) or message('PFE_FW_|DFWD_|ESWD_')",
        "message('SNMP_TRAP_|SNMPD_|VRRPD_')",
    ]
    .into_iter()
    .enumerate()
    {
        let word = if at == 0 { "\n        if" } else { " } elif" };
        let _ = write!(
            text,
            "{word} ({condition}) {{ rewrite {{ r_more(index('i{at}') class('c{at}') sourcetype('{vendor}:{product}:{at}')); }};"
        );
    }
    text + " } else { rewrite { r_more(class('other')); }; };"
}

/// Macros that change what was set first, each with a condition.
fn changes(vendor: &str) -> String {
    let mut text = String::new();
    for (class, condition) in [
        ("traffic", "\"${.values.type}\" eq \"traffic\""),
        ("utm", "\"${.values.type}\" eq \"utm\""),
        ("event", "match('^event' value('.values.type'))"),
        ("backup", "program('auto-backup' type(string) flags(ignore-case, prefix))"),
    ] {
        let _ = write!(
            text,
            "\n        rewrite {{ r_change(index('net{class}') sourcetype('{vendor}:{class}') class('{class}') condition({condition})); }};"
        );
    }
    text
}
