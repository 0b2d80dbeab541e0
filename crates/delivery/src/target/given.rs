//! Where a destination with connections sends to and from, as its options say it: host, port, other servers,
//! own address.

use super::super::dialing::Failback;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Reported};
use driver_options::ports::port;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// An address has to be of the family that is used; a name is looked up in it.
pub fn check_family(
    host: &str,
    ipv6: bool,
    option: &str,
    s: &Settings,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    match host.parse::<IpAddr>() {
        Ok(ip) if ip.is_ipv6() != ipv6 => {
            let text = format!("{host} is not an IPv{} address", if ipv6 { 6 } else { 4 });
            let help = if ipv6 { "write an IPv6 address, or ip-protocol(4)" } else { "add ip-protocol(6)" };
            diags.push(Diagnostic::error("D0103", text, s.span(option).ok_or(Reported)?).help(help));
            Err(Reported)
        }
        _ => Ok(()),
    }
}

/// `localip()` and `localport()`, where one of them is given.
pub fn local_address(
    s: &Settings,
    ipv6: bool,
    udp: bool,
    diags: &mut Diagnostics,
) -> Result<Option<SocketAddr>, Reported> {
    let port = port(s, "localport", udp, diags)?;
    let any = if ipv6 { IpAddr::V6(Ipv6Addr::UNSPECIFIED) } else { IpAddr::V4(Ipv4Addr::UNSPECIFIED) };
    let Some(text) = s.text("localip") else { return Ok((port != 0).then(|| SocketAddr::new(any, port))) };
    check_family(text, ipv6, "localip", s, diags)?;
    match text.parse::<IpAddr>().map(|ip| vec![SocketAddr::new(ip, port)]).or_else(|_| {
        // A name of this machine: looked up while the configuration is read.
        transport::resolve_target(text, port, ipv6)
    }) {
        Ok(found) => Ok(found.first().copied()),
        Err(error) => {
            let finding = Diagnostic::error(
                "D0103",
                format!("cannot find the address: {error}"),
                s.span("localip").ok_or(Reported)?,
            );
            diags.push(finding.help("write an address of this machine, or leave localip() out"));
            Err(Reported)
        }
    }
}

/// The servers in their order, `host` first, and how to go back to it.
pub fn servers(
    s: &Settings,
    host: &str,
    ipv6: bool,
    diags: &mut Diagnostics,
) -> Result<(Vec<String>, Option<Failback>), Reported> {
    let mut servers = vec![host.to_owned()];
    let (block, old) = (s.block("failover"), s.list("failover-servers"));
    // `failover(servers())`: a list that came out empty where it was made, as syslog-ng takes it.
    if old.is_empty() && block.is_none_or(|b| b.is_set("servers") && b.list("servers").is_empty()) {
        return Ok((servers, None));
    }
    let named = block.map(|b| b.list("servers")).unwrap_or_default();
    let more: Vec<String> = named.iter().chain(old).map(|t| t.text.clone()).collect();
    if more.is_empty() {
        let at = s.span("failover").or(s.span("failover-servers")).ok_or(Reported)?;
        let finding = Diagnostic::error("D0110", "failover() names no servers", at);
        diags.push(finding.help("write `failover(servers(\"b.example.com\"))`"));
        return Err(Reported);
    }
    for host in &more {
        check_family(host, ipv6, "failover", s, diags)?;
    }
    servers.extend(more);
    let failback = block.and_then(|b| b.block("failback")).map(|b| Failback {
        interval: b.seconds("tcp-probe-interval").unwrap_or(Duration::from_secs(60)),
        successes: b.int("successful-probes-required").unwrap_or(3).clamp(1, i64::from(u32::MAX)) as u32,
    });
    Ok((servers, failback))
}
