//! Calls of drivers as text: options in them, and what stands in a copy in their place.

/// Options of a source that say how its messages are read: they stay.
const READS: [&str; 16] = [
    "flags",
    "tags",
    "keep-hostname",
    "keep-timestamp",
    "use-dns",
    "use-fqdn",
    "default-facility",
    "default-severity",
    "program-override",
    "host-override",
    "log-msg-size",
    "time-zone",
    "encoding",
    "log-iw-size",
    "log-fetch-limit",
    "so-rcvbuf",
];
/// Options of a destination over TCP that say how it is written to.
const WRITES: [&str; 9] = [
    "template",
    "template-escape",
    "flags",
    "time-zone",
    "frac-digits",
    "ts-format",
    "so-sndbuf",
    "flush-lines",
    "log-fifo-size",
];
/// A source takes so many where it does not say another number.
const CONNECTIONS: u16 = 10;

/// The same source over TCP at a port of this machine, for at least so many connections.
pub fn source(call: &str, name: &str, port: u16, connections: u16) -> String {
    let mut kept = kept(call, &READS);
    if name == "syslog" {
        let flags = option(call, "flags").and_then(|flags| Some(flags.split_once('(')?.1.to_owned()));
        kept.retain(|option| !option.starts_with("flags"));
        kept.push(format!(
            "flags(syslog-protocol {}",
            flags.map_or(")".to_owned(), |flags| format!(", {flags}"))
        ));
    }
    let given = option(call, "max-connections");
    let given =
        given.and_then(|text| text.split_once('(')?.1.trim_end_matches(')').trim().parse::<u16>().ok());
    let most = given.unwrap_or(CONNECTIONS).max(connections);
    format!("network(ip(\"127.0.0.1\") port({port}) max-connections({most}) {})", kept.join(" "))
}

/// The same destination over TCP to a port of this machine; of one that is of another kind, its text.
pub fn network(call: &str, name: &str, number: usize, port: u16) -> String {
    let is_of_this_kind = matches!(name, "network" | "syslog" | "tcp" | "tcp6");
    let name = if name == "syslog" { "syslog" } else { "network" };
    let kept = kept(call, if is_of_this_kind { &WRITES } else { &["template"] }).join(" ");
    format!("{name}(\"127.0.0.1\" port({port}) transport(\"tcp\") persist-name(\"copy-{number}\") {kept})")
}

/// Nothing of it but the text is the same.
pub fn nowhere(call: &str, number: usize) -> String {
    let template = option(call, "template").unwrap_or_default();
    format!("file(\"/dev/null\" persist-name(\"copy-{number}\") {template})")
}

fn kept(call: &str, names: &[&str]) -> Vec<String> {
    names.iter().filter_map(|name| option(call, name)).collect()
}

/// The call with one more option, `name(value)`, in the place of the one that it has.
pub fn with(call: &str, added: &str) -> String {
    if added.is_empty() {
        return call.to_owned();
    }
    let before = added.split_once('(').and_then(|(name, _)| option(call, name));
    match before {
        Some(before) => call.replacen(&before, added, 1),
        None => {
            let open = call.trim_end().strip_suffix(')').unwrap_or(call).trim_end();
            format!("{open} {added})")
        }
    }
}

/// An option of a call as it is written there.
pub fn option(call: &str, name: &str) -> Option<String> {
    let written = name.replace('-', "_");
    let at = [name, written.as_str()].into_iter().find_map(|name| {
        let mut found = call.match_indices(name);
        found.find_map(|(at, _)| {
            let before = call.get(..at)?.chars().next_back();
            let is_word = before.is_none_or(|c| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '"'));
            let rest = call.get(at + name.len()..)?;
            (is_word && rest.trim_start().starts_with('(')).then_some(at)
        })
    })?;
    let rest = call.get(at..)?;
    let open = rest.find('(')?;
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (place, c) in rest.char_indices().skip_while(|(place, _)| *place < open) {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(mark), c) if c == mark => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return rest.get(..=place).map(str::to_owned);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_as_they_are_written() {
        let call =
            "network(ip(\"flags(x)\") port(1) keep_hostname(yes) flags(no-parse, \"a)\") log-msg-size (5))";
        assert_eq!(option(call, "flags").as_deref(), Some("flags(no-parse, \"a)\")"));
        assert_eq!(option(call, "keep-hostname").as_deref(), Some("keep_hostname(yes)"));
        assert_eq!(option(call, "log-msg-size").as_deref(), Some("log-msg-size (5)"));
        assert_eq!((option(call, "tags"), option(call, "size")), (None, None));
    }

    #[test]
    fn an_option_takes_the_place_of_the_one_before() {
        let call = "network(port(1)\n  log-iw-size(100)\n)";
        assert_eq!(with(call, "log-iw-size(7)"), "network(port(1)\n  log-iw-size(7)\n)");
        assert_eq!(with(call, "so-rcvbuf(7)"), "network(port(1)\n  log-iw-size(100) so-rcvbuf(7))");
        assert_eq!(with(call, ""), call);
    }

    #[test]
    fn what_a_copy_has_of_a_call() {
        let call =
            "syslog(port(1) ip(1.2.3.4) max-connections(3) log-iw-size(30) flags(no-parse) tls(key-file(k)))";
        assert_eq!(
            source(call, "syslog", 7, 4),
            "network(ip(\"127.0.0.1\") port(7) max-connections(4) log-iw-size(30) flags(syslog-protocol , no-parse))"
        );
        let call = "tcp(\"central\" port(1) flush-lines(1) template(t_x) disk-buffer(dir(/var)))";
        assert_eq!(
            network(call, "tcp", 2, 7),
            "network(\"127.0.0.1\" port(7) transport(\"tcp\") persist-name(\"copy-2\") template(t_x) flush-lines(1))"
        );
        assert_eq!(
            network("http(url(x) flags(y) template(t_x))", "http", 2, 7),
            "network(\"127.0.0.1\" port(7) transport(\"tcp\") persist-name(\"copy-2\") template(t_x))"
        );
        assert_eq!(nowhere(call, 2), "file(\"/dev/null\" persist-name(\"copy-2\") template(t_x))");
    }
}
