//! A batch on its way: the objects of each notification, encoded on the worker.

use crate::object::{Object, Oid};
use flight::Part;

pub struct Load {
    /// The objects of each message, or why it has none.
    pub bindings: Vec<Result<Vec<u8>, Box<str>>>,
}

/// `trap`: what kind of notification it is. The first fields of a message are the values of `objects`.
pub fn load(trap: &Oid, objects: &[Object], part: &Part<'_>) -> Load {
    let bindings = part.messages.iter().map(|message| one(trap, objects, message)).collect();
    Load { bindings }
}

fn one(trap: &Oid, objects: &[Object], message: &[u8]) -> Result<Vec<u8>, Box<str>> {
    let mut out = Vec::new();
    trap_of(&mut out, trap);
    let mut values = flight::fields(message);
    for object in objects {
        let mut binding = Vec::new();
        object.oid.put(&mut binding);
        object.kind.put(&mut binding, values.next().unwrap_or_default())?;
        crate::ber::put(&mut out, crate::ber::SEQUENCE, &binding);
    }
    Ok(out)
}

/// snmpTrapOID.0, RFC 3418.
fn trap_of(out: &mut Vec<u8>, trap: &Oid) {
    crate::ber::put_with(out, crate::ber::SEQUENCE, |out| {
        crate::ber::put(out, crate::ber::OID, &[0x2b, 6, 1, 6, 3, 1, 1, 4, 1, 0]);
        trap.put(out);
    });
}

/// sysUpTime.0 in front of the objects, as RFC 3416 section 4.2.6 has it.
pub fn with_uptime(bindings: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bindings.len() + 24);
    crate::ber::put_with(&mut out, crate::ber::SEQUENCE, |out| {
        crate::ber::put(out, crate::ber::OID, &[0x2b, 6, 1, 2, 1, 1, 3, 0]);
        crate::ber::put_integer(out, 0x43, i64::from(crate::engine::uptime()));
    });
    out.extend_from_slice(bindings);
    out
}
