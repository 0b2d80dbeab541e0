//! Headers as proxies send them, and headers nobody should send.

use super::*;

fn client(source: &str, destination: &str) -> Origin {
    Origin::Client {
        source: source.parse().expect("an address"),
        destination: destination.parse().expect("an address"),
    }
}

fn v2(command: u8, family: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = V2_SIGNATURE.to_vec();
    bytes.extend_from_slice(&[command, family]);
    bytes.extend_from_slice(&(body.len() as u16).to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// The whole header gives `origin`, every shorter piece of it asks for more, and bytes after it do not
/// matter.
fn check(header: &[u8], origin: Origin) {
    for cut in 0..header.len() {
        assert_eq!(parse(&header[..cut]), Ok(None), "cut at {cut}");
    }
    let mut bytes = header.to_vec();
    bytes.extend_from_slice(b"<13>hello\n");
    assert_eq!(parse(&bytes), Ok(Some(Header { origin, len: header.len() })));
}

#[test]
fn version_1() {
    check(b"PROXY TCP4 192.0.2.1 198.51.100.7 56324 514\r\n", client("192.0.2.1:56324", "198.51.100.7:514"));
    // Without the CR that the protocol wants.
    check(b"PROXY TCP4 192.0.2.1 198.51.100.7 56324 514\n", client("192.0.2.1:56324", "198.51.100.7:514"));
    check(b"PROXY UNKNOWN\n", Origin::Proxy);
    check(b"PROXY TCP6 2001:db8::1 ::1 1 65535\r\n", client("[2001:db8::1]:1", "[::1]:65535"));
    check(b"PROXY UNKNOWN\r\n", Origin::Proxy);
    check(b"PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n", Origin::Proxy);
}

#[test]
fn version_1_refused() {
    for line in [
        "PROXY TCP4 192.0.2.1 198.51.100.7 56324\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.7 56324 65536\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.7 +5 514\r\n",
        "PROXY TCP4 ::1 198.51.100.7 5 514\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.7 5 514 9\r\n",
        "PROXY UDP4 192.0.2.1 198.51.100.7 5 514\r\n",
        "PROXY \r\n",
        "PROXY \n",
    ] {
        assert!(matches!(parse(line.as_bytes()), Err(ProxyError::BadLine(_))), "{line:?}");
    }
    assert_eq!(parse(&[b"PROXY ".to_vec(), vec![b'x'; 200]].concat()), Err(ProxyError::LineTooLong));
    assert_eq!(parse(b"<13>hello"), Err(ProxyError::NoHeader(b"<13>hello".to_vec())));
}

#[test]
fn version_2() {
    let four = [192, 0, 2, 1, 198, 51, 100, 7, 0xdc, 0x04, 0x02, 0x02];
    check(&v2(0x21, 0x11, &four), client("192.0.2.1:56324", "198.51.100.7:514"));
    check(&v2(0x21, 0x12, &four), client("192.0.2.1:56324", "198.51.100.7:514"));
    let mut six = Ipv6Addr::LOCALHOST.octets().to_vec();
    six.extend_from_slice(&Ipv6Addr::UNSPECIFIED.octets());
    six.extend_from_slice(&[0, 1, 0, 2]);
    // Attributes after the addresses are passed over.
    six.extend_from_slice(&[4, 0, 1, 0]);
    check(&v2(0x21, 0x21, &six), client("[::1]:1", "[::]:2"));
    check(&v2(0x20, 0x00, &[]), Origin::Proxy);
    check(&v2(0x21, 0x31, &[0; 216]), Origin::Proxy);
}

#[test]
fn version_2_refused() {
    assert_eq!(parse(&v2(0x11, 0x11, &[0; 12])), Err(ProxyError::BadVersion(0x11)));
    assert_eq!(parse(&v2(0x21, 0x11, &[0; 11])), Err(ProxyError::BadAddress { family: 0x11, size: 11 }));
    assert_eq!(parse(&v2(0x21, 0x21, &[0; 35])), Err(ProxyError::BadAddress { family: 0x21, size: 35 }));
    assert_eq!(parse(&v2(0x21, 0x11, &[0; 5000])), Err(ProxyError::TooLong(5016)));
}
