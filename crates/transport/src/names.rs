//! This machine's own name.

/// The host name; with `fqdn`, completed by the resolver or `custom-domain()`.
pub fn local_host_name(fqdn: bool, custom_domain: Option<&str>) -> String {
    let name = nix::unistd::gethostname().ok().and_then(|n| n.into_string().ok()).unwrap_or_else(|| "localhost".into());
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
