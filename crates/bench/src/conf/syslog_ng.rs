//! Cases in the syslog-ng language: one text for penstock and syslog-ng.

use super::{connector, processing};
use crate::cases::{Case, Feed, Path, Processing};
use crate::feeder;
use crate::place::Place;
use crate::receiver::Receiver;
use stdio::CommandError;

/// Messages a source may have under way over all its connections; what keeps syslog-ng busy without losing
/// any.
const WINDOW: usize = 100_000;
const WINDOW_MIN: usize = 1000;

/// Twenty filters that share the messages out, each message to exactly one: facilities, severities, programs
/// and text as in openSUSE's default configuration. (name, expression)
pub const TWENTY: [(&str, &str); 20] = [
    ("iptables", r#"facility(kern) and message("IN=") and message("OUT=")"#),
    ("kern", "facility(kern) and not filter(f_iptables)"),
    ("console", "facility(user) and level(warning..emerg)"),
    ("user", "facility(user) and not filter(f_console)"),
    ("mailinfo", "facility(mail) and level(debug..notice)"),
    ("mailwarn", "facility(mail) and level(warning)"),
    ("mailerr", "facility(mail) and level(err..emerg)"),
    ("newscrit", "facility(news) and level(crit..emerg)"),
    ("newserr", "facility(news) and level(err)"),
    ("newsnotice", "facility(news) and level(debug..warning)"),
    ("cron", "facility(cron)"),
    ("auth", "facility(auth, authpriv)"),
    ("acpid", r#"facility(daemon) and program("^app[1-4]$")"#),
    ("daemon", "facility(daemon) and not filter(f_acpid)"),
    ("netmgm", r#"facility(syslog, lpr) and program("^app(5|6)$")"#),
    ("print", "facility(syslog, lpr) and not filter(f_netmgm)"),
    ("transfer", "facility(uucp, ftp)"),
    ("local", "facility(local0, local1, local2, local3)"),
    ("boot", "facility(local4, local5, local6, local7)"),
    (
        "messages",
        "not facility(kern, user, mail, daemon, auth, syslog, lpr, news, uucp, cron, authpriv, ftp, \
         local0, local1, local2, local3, local4, local5, local6, local7)",
    ),
];

/// The configuration of `case`. An error says why there is none.
pub fn text(case: &Case, place: &Place, receiver: Receiver) -> Result<String, CommandError> {
    if case.path == Path::Connector {
        let driver = format!(
            "network(ip(\"127.0.0.1\") port({}) transport(\"tcp\") max-connections({}) flags(validate-utf8, no-parse))",
            place.port, case.input.connections
        );
        let output = place.output.display();
        let template = "$(template ${.hec.form} $(template t_event))\\n";
        let destination =
            format!("destination d_out {{ file(\"{output}/all.log\" template(\"{template}\")); }};");
        return connector::text(place, &driver, &destination);
    }
    let version = match case.path {
        Path::Processing(Processing::Block(_)) | Path::Delivery(_) | Path::Intake(_) => "4.11",
        _ => "3.38",
    };
    let mut text = format!("@version: {version}\n\n");
    if matches!(case.path, Path::Delivery(_) | Path::Intake(_)) {
        text.push_str("@include \"scl.conf\"\n");
    }
    text.push_str("options { keep-hostname(yes); use-dns(no);");
    let tuned = receiver == Receiver::SyslogNgTuned;
    if tuned {
        text.push_str(&format!(" flush-lines(1000); log-fifo-size({});", 2 * window(case) + 10_000));
    }
    text.push_str(" };\n\n");
    text.push_str(&source(case, place, tuned));
    text.push_str(&paths(case, place, receiver)?);
    Ok(text)
}

/// `log-iw-size()`; syslog-ng divides it among `max-connections()`.
fn window(case: &Case) -> usize {
    (case.input.connections * WINDOW_MIN).max(WINDOW)
}

/// Room on disk of each destination: more than any case needs.
const BUFFER_BYTES: u64 = 16 << 30;

/// Files, and a port that says that the receiver is ready.
fn files(case: &Case, place: &Place, tuned: bool, count: usize) -> String {
    let mut options = vec![format!("base-dir(\"{}\") filename-pattern(\"*.log\")", place.input.display())];
    options.push(format!("recursive(yes) max-files({})", count + 100));
    if tuned {
        options.push(format!("log-iw-size({}) log-fetch-limit(1000)", window(case)));
    }
    let port = place.port;
    format!(
        "source s_in {{\n    wildcard-file(\n        {}\n    );\n    network(ip(\"127.0.0.1\") port({port}));\n}};\n\n",
        options.join("\n        ")
    )
}

fn source(case: &Case, place: &Place, tuned: bool) -> String {
    if let Path::Intake(intake) = case.path {
        return format!("source s_in {{ {} }};\n\n", feeder::with_ports(intake.source, place));
    }
    if let Some(layout) = case.layout() {
        return files(case, place, tuned, layout.count());
    }
    let driver = if case.input.ietf { "syslog" } else { "network" };
    let mut options = vec![format!("ip(\"127.0.0.1\") port({})", place.port)];
    match case.input.feed {
        // Default settings are what some of the UDP cases are about.
        Feed::Udp { receive_bytes, .. } => {
            options.push("transport(\"udp\")".into());
            options.extend(receive_bytes.map(|bytes| format!("so-rcvbuf({bytes})")));
        }
        feed => {
            let way = if case.input.secure { "tls" } else { "tcp" };
            // Those of a storm are closed at once, but not at once gone.
            let most = case.input.connections + case.input.storm as usize;
            let most = case.input.window.map_or(most, |window| window.connections as usize);
            options.push(format!("transport(\"{way}\") max-connections({most})"));
            options.extend(case.input.window.map(|window| format!("log-iw-size({})", window.messages)));
            if case.input.secure {
                let folder = place.certificates();
                let folder = folder.display();
                options.push(format!(
                    "tls(key-file(\"{folder}/localhost.key\") cert-file(\"{folder}/localhost.pem\") peer-verify(optional-untrusted))"
                ));
            }
            if tuned {
                options.push(format!("log-iw-size({}) log-fetch-limit(1000)", window(case)));
            }
            if feed == Feed::Prepared {
                options.push(format!("so-rcvbuf({})", crate::sysctl::PREPARED_BYTES));
            }
        }
    }
    if case.path == Path::FilterTag {
        options.push("tags(\"bench\")".into());
    }
    let one = |more: &str| format!("    {driver}(\n        {}{more}\n    );\n", options.join("\n        "));
    let drivers = match case.input.sockets {
        1 => one(""),
        count => (1..=count)
            .map(|n| one(&format!("\n        so-reuseport(yes) persist-name(\"socket-{n}\")")))
            .collect(),
    };
    format!("source s_in {{\n{drivers}}};\n\n")
}

fn paths(case: &Case, place: &Place, receiver: Receiver) -> Result<String, CommandError> {
    let output = place.output.display();
    let one_file = format!("destination d_out {{ file(\"{output}/all.log\"); }};\n");
    let steps = |definitions: &str, steps: &str| {
        let sharing =
            if case.sharing || receiver != Receiver::Penstock { "" } else { " parallelize(workers(1));" };
        let definitions = format!("{definitions}{}", if definitions.is_empty() { "" } else { "\n" });
        format!(
            "{definitions}log {{ source(s_in);{sharing}{steps} destination(d_out); flags(flow-control); }};\n"
        )
    };
    Ok(match case.path {
        Path::OneFile | Path::Intake(_) => one_file + &steps("", ""),
        Path::FilesByHost => {
            format!("destination d_out {{ file(\"{output}/${{HOST}}.log\"); }};\n") + &steps("", "")
        }
        Path::Relay => {
            let port = place.sink_port;
            format!("destination d_out {{ network(\"127.0.0.1\" port({port}) transport(\"tcp\")); }};\n")
                + &steps("", "")
        }
        Path::ParsedRelay(what) => {
            let made = processing::steps(Processing::Printed(what), place)?;
            let (port, template) = (place.sink_port, made.template);
            format!(
                "destination d_out {{ network(\"127.0.0.1\" port({port}) transport(\"tcp\") template(\"{template}\")); }};\n"
            ) + &steps(&made.definitions, &made.steps)
        }
        Path::Buffered(kept) => {
            let folder = place.buffer();
            std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            let reliable = if kept.reliable { "yes" } else { "no" };
            let drivers = (0..kept.destinations).map(|number| {
                let (port, folder) = (place.sink_port_of(number), folder.display());
                format!(
                    "    network(\"127.0.0.1\" port({port}) transport(\"tcp\") time-reopen(1)\n        \
                     disk-buffer(disk-buf-size({BUFFER_BYTES}) reliable({reliable}) dir(\"{folder}\")));\n"
                )
            });
            format!("destination d_out {{\n{}}};\n", drivers.collect::<String>()) + &steps("", "")
        }
        Path::Hop(hop) => {
            let (driver, port, options) = (hop.driver, place.sink_port, hop.options);
            format!("destination d_out {{ {driver}(\"127.0.0.1\" port({port}) {options}); }};\n")
                + &steps("", "")
        }
        Path::Delivery(delivery) => {
            let folder = place.buffer();
            std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            let driver = delivery.driver.replace("PORT", &place.sink_port.to_string());
            let driver = driver.replace("DIR", &folder.display().to_string());
            format!("destination d_out {{ {driver}; }};\n") + &steps("", "")
        }
        Path::FilterFacility => one_file + &steps("filter f { facility(kern..local7); };", " filter(f);"),
        Path::FilterHost => one_file + &steps("filter f { host(\"^host0[0-9]+$\"); };", " filter(f);"),
        Path::FilterTag => one_file + &steps("filter f { tags(\"bench\"); };", " filter(f);"),
        Path::Regexp => {
            one_file + &steps("filter f { message(\"seq=[0-9]+ [a-zA-Z0-9=:./]+ \"); };", " filter(f);")
        }
        Path::SubstHost => {
            one_file + &steps("rewrite r { subst(\"^host\", \"node\", value(\"HOST\")); };", " rewrite(r);")
        }
        Path::Costly => {
            let filters = "filter f { message(\"conn=[0-9]{4} seq=([0-9]+) \") and message(\"(user|port|kernel|session|from|up|pid|after|closed) .*[a-z0-9]\"); };";
            let rewrite = r#"rewrite r { subst('[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+', "x.x.x.x", value("MESSAGE") flags(global)); };"#;
            one_file + &steps(&format!("{filters}\n{rewrite}"), " filter(f); rewrite(r);")
        }
        Path::TwentyFilters => twenty(&output.to_string()),
        Path::Connector => return Err("it has a text of its own".into()),
        Path::Processing(work) => {
            let made = processing::steps(work, place)?;
            let template = made.template;
            format!("destination d_out {{ file(\"{output}/all.log\" template(\"{template}\")); }};\n")
                + &steps(&made.definitions, &made.steps)
        }
    })
}

fn twenty(output: &str) -> String {
    let mut text = String::new();
    for (name, expression) in TWENTY {
        text.push_str(&format!("filter f_{name} {{ {expression}; }};\n"));
        text.push_str(&format!("destination d_{name} {{ file(\"{output}/{name}.log\"); }};\n"));
        text.push_str(&format!(
            "log {{ source(s_in); filter(f_{name}); destination(d_{name}); flags(flow-control); }};\n\n"
        ));
    }
    text
}
