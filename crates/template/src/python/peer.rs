//! The address that a class says a message comes from.

use python::marshal::Malformed;
use record::{Batch, Context, Peer};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// Nobody knows at which address it came in.
const IPV4_NONE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
const IPV6_NONE: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// Lets a message come from an address. Those of one address share what they have in common.
pub(super) fn comes_from(batch: &mut Batch, index: usize, ip: IpAddr) -> Result<(), Malformed> {
    let record = batch.records.get(index).ok_or(Malformed)?;
    let before = batch.context(record);
    let source = before.map_or("", |context| &*context.source);
    let is_it = |context: &Context| {
        matches!(&context.peer, Peer::Inet { remote, .. } if remote.ip() == ip) && *context.source == *source
    };
    let place = match batch.contexts.iter().rposition(|context| is_it(context)) {
        Some(place) => place,
        None => {
            let remote = SocketAddr::new(ip, 0);
            let local = SocketAddr::new(if ip.is_ipv4() { IPV4_NONE } else { IPV6_NONE }, 0);
            let peer = Peer::Inet { remote, local, proxy: None };
            let before = before.cloned().unwrap_or_else(|| Context::local("", "", ""));
            batch.contexts.push(Arc::new(Context { peer, host_from: ip.to_string().into(), ..before }));
            batch.contexts.len() - 1
        }
    };
    let place = u16::try_from(place).map_err(|_| Malformed)?;
    batch.records.get_mut(index).ok_or(Malformed)?.context = place;
    Ok(())
}
