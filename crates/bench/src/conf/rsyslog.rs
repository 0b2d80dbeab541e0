//! Cases in rsyslog's language, where it has an equal.

use crate::cases::{Case, Feed, Path};
use crate::place::Place;
use stdio::CommandError;

/// What cannot be said in rsyslog without a script of another kind is left out.
pub fn can(path: Path) -> bool {
    match path {
        Path::Buffered(kept) => !kept.reliable && kept.destinations == 1,
        _ => !matches!(
            path,
            Path::Hop(_)
                | Path::Delivery(_)
                | Path::Intake(_)
                | Path::FilterTag
                | Path::Costly
                | Path::Processing(_)
                | Path::ParsedRelay(_)
                | Path::Connector
        ),
    }
}

pub fn text(case: &Case, place: &Place) -> Result<String, CommandError> {
    let (root, output) = (place.root.display(), place.output.display());
    let mut text = format!("global(workDirectory=\"{root}\")\n");
    if case.is_udp() {
        text.push_str("module(load=\"imudp\")\n");
        let buffer = match case.input.feed {
            Feed::Udp { receive_bytes: Some(bytes), .. } => format!(" rcvbufSize=\"{bytes}\""),
            _ => String::new(),
        };
        text.push_str(&format!(
            "input(type=\"imudp\" address=\"127.0.0.1\" port=\"{}\"{buffer})\n",
            place.port
        ));
    } else {
        text.push_str("module(load=\"imptcp\")\n");
        // Its default backlog of 5 would make a sender with many connections wait for SYN retries.
        text.push_str(&format!(
            "input(type=\"imptcp\" address=\"127.0.0.1\" port=\"{}\" socketBacklog=\"4096\")\n",
            place.port
        ));
    }
    let file = |name: &str| {
        format!(
            "action(type=\"omfile\" file=\"{output}/{name}.log\" template=\"RSYSLOG_TraditionalFileFormat\")"
        )
    };
    let guarded = |condition: &str, name: &str| format!("if {condition} then {{ {} }}\n", file(name));
    match case.path {
        Path::OneFile => text.push_str(&(file("all") + "\n")),
        Path::FilesByHost => {
            text.push_str(&format!(
                "template(name=\"byhost\" type=\"string\" string=\"{output}/%hostname%.log\")\n"
            ));
            text.push_str(
                "action(type=\"omfile\" dynaFile=\"byhost\" template=\"RSYSLOG_TraditionalFileFormat\")\n",
            );
        }
        Path::Relay => text.push_str(&format!(
            "action(type=\"omfwd\" target=\"127.0.0.1\" port=\"{}\" protocol=\"tcp\" \
             template=\"RSYSLOG_TraditionalForwardFormat\")\n",
            place.sink_port
        )),
        Path::Buffered(kept) if !kept.reliable && kept.destinations == 1 => text.push_str(&format!(
            "action(type=\"omfwd\" target=\"127.0.0.1\" port=\"{}\" protocol=\"tcp\" \
             template=\"RSYSLOG_TraditionalForwardFormat\" action.resumeRetryCount=\"-1\" \
             action.resumeInterval=\"1\" queue.type=\"LinkedList\" queue.filename=\"out\" \
             queue.size=\"10000\" queue.maxDiskSpace=\"16g\" queue.saveOnShutdown=\"on\")\n",
            place.sink_port
        )),
        Path::FilterFacility => text.push_str(&guarded("$syslogfacility <= 23", "all")),
        Path::FilterHost => text.push_str(&guarded("re_match($hostname, \"^host0[0-9]+\\$\")", "all")),
        Path::Regexp => text.push_str(&guarded("re_match($msg, \"seq=[0-9]+ [a-zA-Z0-9=:./]+ \")", "all")),
        Path::SubstHost => {
            text.push_str("template(name=\"subst\" type=\"string\" string=\"%timestamp% %$.host% %syslogtag%%msg:::sp-if-no-1st-sp%%msg:::drop-last-lf%\\n\")\n");
            text.push_str("set $.host = replace($hostname, \"host\", \"node\");\n");
            text.push_str(&format!("action(type=\"omfile\" file=\"{output}/all.log\" template=\"subst\")\n"));
        }
        Path::TwentyFilters => {
            for (name, condition) in TWENTY {
                text.push_str(&guarded(condition, name));
            }
        }
        Path::Buffered(_)
        | Path::Hop(_)
        | Path::Delivery(_)
        | Path::Intake(_)
        | Path::FilterTag
        | Path::Costly
        | Path::Processing(_)
        | Path::ParsedRelay(_)
        | Path::Connector => {
            return Err("rsyslog has no equal of this case".into());
        }
    }
    Ok(text)
}

/// The same twenty as in syslog-ng's language. Severity counts down: 0 is emerg, 7 debug.
const TWENTY: [(&str, &str); 20] = [
    ("iptables", r#"$syslogfacility == 0 and $msg contains "IN=" and $msg contains "OUT=""#),
    ("kern", r#"$syslogfacility == 0 and not ($msg contains "IN=" and $msg contains "OUT=")"#),
    ("console", "$syslogfacility == 1 and $syslogseverity <= 4"),
    ("user", "$syslogfacility == 1 and not ($syslogseverity <= 4)"),
    ("mailinfo", "$syslogfacility == 2 and $syslogseverity >= 5"),
    ("mailwarn", "$syslogfacility == 2 and $syslogseverity == 4"),
    ("mailerr", "$syslogfacility == 2 and $syslogseverity <= 3"),
    ("newscrit", "$syslogfacility == 7 and $syslogseverity <= 2"),
    ("newserr", "$syslogfacility == 7 and $syslogseverity == 3"),
    ("newsnotice", "$syslogfacility == 7 and $syslogseverity >= 4"),
    ("cron", "$syslogfacility == 9"),
    ("auth", "$syslogfacility == 4 or $syslogfacility == 10"),
    ("acpid", r#"$syslogfacility == 3 and re_match($programname, "^app[1-4]\$")"#),
    ("daemon", r#"$syslogfacility == 3 and not re_match($programname, "^app[1-4]\$")"#),
    ("netmgm", r#"($syslogfacility == 5 or $syslogfacility == 6) and re_match($programname, "^app(5|6)\$")"#),
    (
        "print",
        r#"($syslogfacility == 5 or $syslogfacility == 6) and not re_match($programname, "^app(5|6)\$")"#,
    ),
    ("transfer", "$syslogfacility == 8 or $syslogfacility == 11"),
    ("local", "$syslogfacility >= 16 and $syslogfacility <= 19"),
    ("boot", "$syslogfacility >= 20 and $syslogfacility <= 23"),
    ("messages", "$syslogfacility >= 12 and $syslogfacility <= 15"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;
    use crate::conf::syslog_ng;

    #[test]
    fn both_languages_have_the_same_twenty() {
        let names =
            |table: &[(&'static str, &'static str)]| table.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(names(&TWENTY), names(&syslog_ng::TWENTY));
    }

    #[test]
    fn every_case_has_a_configuration() {
        let parent = tempfile::tempdir().unwrap();
        let place = Place::new(parent.path(), "case", false).unwrap();
        for case in CASES {
            let conf = syslog_ng::text(case, &place, crate::receiver::Receiver::SyslogNg).unwrap();
            assert!(conf.contains(&format!("port({})", place.port)), "{}", case.name);
            assert_eq!(
                conf.matches('{').count() - conf.matches("{4}").count(),
                conf.matches('}').count() - conf.matches("{4}").count()
            );
            assert_eq!(text(case, &place).is_ok(), can(case.path), "{}", case.name);
        }
    }
}
