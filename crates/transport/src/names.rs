//! This machine's own name.

/// The host name; with `fqdn`, completed by the resolver or `custom-domain()`.
pub fn local_host_name(fqdn: bool, custom_domain: Option<&str>) -> String {
    let name = nix::unistd::gethostname()
        .ok()
        .and_then(|n| n.into_string().ok())
        .unwrap_or_else(|| "localhost".into());
    host_name_of(&name, fqdn, custom_domain)
}

/// The same of a machine that calls itself so.
pub fn host_name_of(name: &str, fqdn: bool, custom_domain: Option<&str>) -> String {
    let short = name.split('.').next().unwrap_or(name).to_owned();
    if !fqdn {
        return short;
    }
    if let Some(domain) = custom_domain {
        return format!("{short}.{domain}");
    }
    if name.contains('.') {
        return name.to_owned();
    }
    let canonical = dns_lookup::lookup_host(name)
        .ok()
        .and_then(|mut found| found.next())
        .and_then(|address| dns_lookup::lookup_addr(&address).ok());
    let canonical = canonical.filter(|full| full.split('.').next() == Some(short.as_str()));
    canonical.unwrap_or_else(|| name.to_owned())
}

/// The port of a service by name, from /etc/services.
pub fn service_port(name: &str, udp: bool) -> Option<u16> {
    let services = std::fs::read_to_string("/etc/services").ok()?;
    let protocol = if udp { "udp" } else { "tcp" };
    services.lines().find_map(|line| {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let (official, place) = (words.next()?, words.next()?);
        let (port, kind) = place.split_once('/')?;
        let known = official == name || words.any(|alias| alias == name);
        (known && kind == protocol).then(|| port.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::host_name_of;

    #[test]
    fn a_name_with_and_without_its_domain() {
        assert_eq!(host_name_of("web1.example.org", false, Some("example.com")), "web1");
        assert_eq!(host_name_of("web1.example.org", true, None), "web1.example.org");
        assert_eq!(host_name_of("web1.example.org", true, Some("example.com")), "web1.example.com");
        assert_eq!(host_name_of("web1", true, Some("example.com")), "web1.example.com");
        assert_eq!(host_name_of("web1", false, None), "web1");
    }
}
