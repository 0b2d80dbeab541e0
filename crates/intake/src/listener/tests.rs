use super::*;
use drivers::testing::{HEAD, Running};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use transport::{DnsOptions, NameUse, Resolver};

/// A listener whose only connection waits for a name that nobody will ever say.
fn waiting(running: &Running) -> (Listener, UnixStream, Arc<Slot>) {
    let source = running.source("s#0");
    let worker = running.shared().any_worker().expect("a worker").clone();
    let naming = Naming {
        resolver: Arc::new(Resolver::new(DnsOptions::default())),
        use_dns: NameUse::No,
        use_fqdn: false,
        normalize_hostnames: false,
    };
    let accepted = Arc::new(Accepted {
        framing: FramerOptions::default(),
        multi_line: None,
        idle_timeout: None,
        fetch_limit: None,
        encoding: None,
        socket: SocketOptions::default(),
        permits: Permits::new(1),
        facts: PeerFacts { group: "s".into(), transport: Transport("rfc3164+tcp"), ip_protocol: 6 },
        naming,
        local_name: "here".into(),
        credentials: false,
        location: String::new(),
        secure: None,
        protocol: None,
    });
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    socket.set_nonblocking(true).expect("option");
    let (client, server) = UnixStream::pair().expect("pair");
    server.set_nonblocking(true).expect("option");
    let permit = accepted.permits.take().expect("the first one");
    let described = Described { fd: 0, client: String::new(), local: String::new() };
    let hand_off =
        HandOff { worker, source: Arc::clone(&source), accepted: Arc::clone(&accepted), permit, described };
    let slot: Arc<Slot> = Arc::new(Mutex::new(Some((OwnedFd::from(server), hand_off, Nameless::begin()))));
    let address: SocketAddr = "192.0.2.7:1".parse().expect("address");
    let unnamed = vec![Unnamed {
        until: Instant::now() + NAME_WAIT,
        slot: Arc::downgrade(&slot),
        remote: address,
        local: address,
    }];
    let adopter = Adopter::start(&source, &accepted, &running.shared());
    (
        Listener {
            socket: Socket::Tcp(socket),
            source,
            accepted,
            unnamed,
            crowded: false,
            queued: false,
            _adopter: adopter,
        },
        client,
        slot,
    )
}

fn running() -> Running {
    Running::start(&format!(
        "{HEAD}source s {{ example-msg-generator(num(1) freq(1000)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{HOST_FROM}} ${{MSG}}\\n\")); }};\n\
         log {{ source(s); destination(d); }};\n"
    ))
}

#[test]
fn a_late_name_does_not_hold_a_connection_for_ever() {
    let running = running();
    let (mut listener, mut client, slot) = waiting(&running);
    client.write_all(b"one\n").expect("write");
    assert!(listener.tick(Instant::now()));
    assert!(slot.lock().is_some(), "it has its time");
    assert!(listener.tick(Instant::now() + NAME_WAIT));
    assert!(slot.lock().is_none() && listener.unnamed.is_empty());
    // The source of this test makes its records itself, so the text is nowhere; the sender is.
    assert!(running.wait_lines("out", 1)[0].starts_with("192.0.2.7"));
    // The answer that comes in the end finds nothing to do.
    serve(&slot, "192.0.2.7:1".parse().expect("address"), "192.0.2.7:1".parse().expect("address"), "late");
}

#[test]
fn connections_without_a_name_go_with_their_listener() {
    let running = running();
    let (mut listener, mut client, slot) = waiting(&running);
    let accepted = Arc::clone(&listener.accepted);
    listener.forget_unnamed();
    assert!(slot.lock().is_none());
    assert!(matches!(client.read(&mut [0]), Ok(0) | Err(_)), "the connection is closed");
    assert_eq!(accepted.permits.taken(), 0, "its place is free");
}

#[test]
fn names_of_addresses_in_messages() {
    for (address, expected) in [
        ("192.0.2.1:514", "AF_INET(192.0.2.1:514)"),
        ("[2001:db8::1]:514", "AF_INET6([2001:db8::1]:514)"),
        ("[::ffff:192.0.2.1]:514", "AF_INET(192.0.2.1:514)"),
    ] {
        assert_eq!(inet_name(address.parse().expect("address")), expected);
    }
}
