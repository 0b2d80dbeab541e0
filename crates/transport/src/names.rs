//! This machine's own name.

/// The host name; with `fqdn`, completed by the resolver or `custom-domain()`.
pub fn local_host_name(fqdn: bool, custom_domain: Option<&str>) -> String {
    let name = nix::unistd::gethostname()
        .ok()
        .and_then(|n| n.into_string().ok())
        .unwrap_or_else(|| "localhost".into());
    let short = name.split('.').next().unwrap_or(&name).to_owned();
    if !fqdn {
        return short;
    }
    if let Some(domain) = custom_domain {
        return format!("{short}.{domain}");
    }
    if name.contains('.') {
        return name;
    }
    let canonical = dns_lookup::lookup_host(&name)
        .ok()
        .and_then(|mut found| found.next())
        .and_then(|address| dns_lookup::lookup_addr(&address).ok());
    canonical.filter(|full| full.split('.').next() == Some(short.as_str())).unwrap_or(name)
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
