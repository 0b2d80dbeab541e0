//! Addresses and networks.

use super::convert::first;
use crate::function::{Build, Function, Parameter};
use crate::run::{Eval, Failure, Run};
use crate::types::Types;
use std::net::Ipv6Addr;
use value::Value;

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "ip",
        parameters: &[Parameter::value("address", Types::STRING.or(Types::IP))],
        returns: Types::IP,
        help: "An address of IPv4 or IPv6. Of IPv4 the short forms of C are understood: `1.2`, `0x7f.1`.",
        examples: &[("ip(\"1.2.3.4\")", "ip('1.2.3.4')"), ("ip(\"::1\") in subnet(\"10.0.0.0/8\")", "false")],
        build: Build::Plain(ip),
    },
    Function {
        name: "subnet",
        parameters: &[Parameter::value("network", Types::STRING.or(Types::SUBNET))],
        returns: Types::SUBNET,
        help: "A network: `10.0.0.0/8`, `10.0.0.0/255.0.0.0`, `2001:db8::/32`. What is an address or the text of one can be asked whether it is `in` \
               it.",
        examples: &[
            ("subnet(\"10.1.2.3/8\")", "subnet('10.0.0.0/255.0.0.0')"),
            ("\"10.1.2.3\" in subnet(\"10.0.0.0/8\")", "true"),
        ],
        build: Build::Plain(subnet),
    },
];

fn ip(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let value = first(args);
    if let Value::Ip(_) = value {
        return Ok(value);
    }
    let mut bytes = [0; 16];
    match value.span().and_then(|span| address(run.batch.bytes(span), &mut bytes)) {
        Some(len) => run.place(bytes.get(..len).unwrap_or_default()).map(Value::Ip),
        None => run.fail(Failure::Value("Failed to parse an IP address", value)),
    }
}

fn subnet(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let value = first(args);
    if let Value::Subnet(_) = value {
        return Ok(value);
    }
    match value.span().and_then(|span| network(run.batch.bytes(span))) {
        Some(bytes) => run.place(&bytes).map(Value::Subnet),
        None => run.fail(Failure::Value("Failed to parse a subnet", value)),
    }
}

/// Address and length of the prefix; the bits behind it are zero.
fn network(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let (base, mask) = text.split_once('/')?;
    let mut bytes = [0; 16];
    let len = address(base.as_bytes(), &mut bytes)?;
    let prefix = match mask.parse::<u8>() {
        Ok(prefix) => prefix,
        Err(_) if len == 4 => {
            let mask = u32::from(mask.parse::<std::net::Ipv4Addr>().ok()?);
            (mask.leading_ones() + mask.trailing_zeros() == 32).then(|| mask.leading_ones() as u8)?
        }
        Err(_) => return None,
    };
    if usize::from(prefix) > len * 8 {
        return None;
    }
    let mut out = bytes.get(..len)?.to_vec();
    for (at, byte) in out.iter_mut().enumerate() {
        let kept = usize::from(prefix).saturating_sub(at * 8).min(8) as u32;
        *byte &= !(0xff_u8.checked_shr(kept).unwrap_or(0));
    }
    out.push(prefix);
    Some(out)
}

/// Puts the bytes of an address into a buffer, and says how many there are.
pub(crate) fn address(text: &[u8], to: &mut [u8; 16]) -> Option<usize> {
    let text = std::str::from_utf8(text).ok()?;
    if text.contains(':') {
        *to = text.parse::<Ipv6Addr>().ok()?.octets();
        return Some(16);
    }
    let value = short_form(text)?;
    to.get_mut(..4)?.copy_from_slice(&value.to_be_bytes());
    Some(4)
}

/// One to four numbers, decimal, octal or hexadecimal; the last takes all bytes that are left. A blank
/// ends it.
fn short_form(text: &str) -> Option<u32> {
    let text = text.split(|c: char| c.is_ascii_whitespace()).next()?;
    let parts: Vec<u32> = text.split('.').map(number).collect::<Option<_>>()?;
    let (last, bytes) = parts.split_last()?;
    if bytes.len() > 3 || bytes.iter().any(|b| *b > 255) {
        return None;
    }
    let room = 8 * (4 - bytes.len() as u32);
    if room < 32 && *last >> room != 0 {
        return None;
    }
    let head = bytes.iter().enumerate().fold(0, |sum, (at, byte)| sum | byte << (24 - 8 * at));
    Some(head | last)
}

fn number(text: &str) -> Option<u32> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u32::from_str_radix(digits, radix).ok()
}
