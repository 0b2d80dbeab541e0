//! Two servers on one port of two addresses, and messages of several hosts.

use super::*;
use drivers::testing::{HEAD, Running, errors, free_port, wait_until};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

#[test]
fn keys_are_spread_and_stay_where_they_are() {
    let mut counts = [0; 3];
    for n in 0..3000 {
        let key = format!("host{n}");
        counts[place(hash(key.as_bytes()), 3)] += 1;
    }
    assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    assert_eq!((place(hash(b""), 1), place(hash(b"host7"), 3)), (0, place(hash(b"host7"), 3)));
}

#[test]
fn every_server_is_the_first_of_one_connection() {
    let balance = Balance {
        servers: vec!["b".to_owned(), "c".to_owned()],
        key: None,
        key_text: String::new(),
        spread: None,
    };
    let expected = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]];
    assert_eq!(balance.routes(&["a".to_owned()]), expected);
    let with_failover = balance.routes(&["a".to_owned(), "f".to_owned()]);
    assert_eq!(with_failover[1], ["b", "c", "a", "f"]);
}

fn config(port: u16, to: u16, options: &str) -> String {
    format!(
        "{HEAD}options {{ time-reopen(1); }};\nsource s {{ network(ip(127.0.0.1) port({port})); }};\n\
         destination d {{ network(\"127.0.0.1\" port({to}) template(\"$HOST $MSG\\n\") {options}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// The lines a server receives, over however many connections.
fn serve(listener: TcpListener) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
    });
    receiver
}

fn send(port: u16, from: usize, to: usize) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connect");
    for n in from..to {
        for host in 0..8 {
            writeln!(stream, "<13>Nov 11 01:02:03 h{host} app: {n}").expect("write");
        }
    }
}

/// `count` lines of both servers together, apart.
fn take(servers: [&Receiver<String>; 2], count: usize) -> [Vec<String>; 2] {
    let mut got = [Vec::new(), Vec::new()];
    wait_until("all messages", || {
        for (server, got) in servers.iter().zip(&mut got) {
            got.extend(server.try_iter());
        }
        got[0].len() + got[1].len() >= count
    });
    got
}

#[test]
fn what_has_the_same_key_goes_one_way_in_order() {
    let (port, first) = (free_port(), TcpListener::bind("127.0.0.1:0").expect("bind"));
    let to = first.local_addr().expect("address").port();
    let second = TcpListener::bind(("127.0.0.2", to)).expect("bind");
    let (first, second) = (serve(first), serve(second));
    let running = Running::start(&config(port, to, "load-balance(servers(\"127.0.0.2\") key(\"${HOST}\"))"));
    send(port, 0, 100);
    let [one, two] = take([&first, &second], 800);
    assert!(!one.is_empty() && !two.is_empty());
    for host in 0..8 {
        let name = format!("h{host} ");
        let of = |lines: &[String]| -> Vec<String> {
            lines.iter().filter(|l| l.starts_with(&name)).cloned().collect()
        };
        let expected: Vec<String> = (0..100).map(|n| format!("{name}{n}")).collect();
        let (here, there) = (of(&one), of(&two));
        assert!(here == expected && there.is_empty() || there == expected && here.is_empty(), "{host}");
    }
    drop(running);
}

#[test]
fn messages_take_turns_and_one_server_stands_in_for_the_other() {
    let (port, first) = (free_port(), TcpListener::bind("127.0.0.1:0").expect("bind"));
    let to = first.local_addr().expect("address").port();
    let options = "load-balance(servers(\"127.0.0.2\"))";
    let first = serve(first);
    // The second one is away: all messages come here.
    let running = Running::start(&config(port, to, options));
    send(port, 0, 10);
    let nobody = channel().1;
    assert_eq!(take([&first, &nobody], 80)[0].len(), 80);
    drop(running);
    let second = serve(TcpListener::bind(("127.0.0.2", to)).expect("bind"));
    let running = Running::start(&config(port, to, options));
    send(port, 0, 10);
    let [one, two] = take([&first, &second], 80);
    assert_eq!((one.len(), two.len()), (40, 40));
    drop(running);
}

#[test]
fn what_does_not_fit_is_said() {
    for options in ["load-balance(key(\"$HOST\"))", "load-balance(servers(\"127.0.0.2\")) transport(udp)"] {
        assert!(errors(&config(1, 2, options)).contains("D0110"), "{options}");
    }
}
