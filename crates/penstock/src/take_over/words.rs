//! What is handed over as frames, and back again.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use control::take_over::{Kind, Reader, Writer, send};
use engine::Chunk;
use engine::hand_over::{Connection, Handed, Queue};
use record::{Context, Peer, Transport, intern, name_of};
use transport::inherited::{Inherited, is_managed_socket};

/// Bytes of one frame of a queue, of which chunks may be larger only by one message.
const PIECE_BYTES: usize = 8 << 20;

pub fn send_handed(stream: &UnixStream, handed: &Handed) -> io::Result<()> {
    match handed {
        Handed::Socket(fd) => {
            let body = Writer::new().number(is_managed_socket(fd).into()).done();
            send(stream, Kind::Socket, Some(fd.as_fd()), &body)
        }
        Handed::Connection(connection) => {
            send(stream, Kind::Connection, Some(connection.fd.as_fd()), &of_connection(connection))
        }
    }
}

pub fn socket(fd: OwnedFd, body: &[u8]) -> Option<Inherited> {
    Some(Inherited { fd, managed: Reader(body).number()? == 1 })
}

fn of_connection(connection: &Connection) -> Vec<u8> {
    let Connection { instance, reading, context, client, local, received, .. } = connection;
    let mut body = Writer::new().text(instance).text(reading).text(client).text(local).bytes(received);
    body = body.text(&context.host_from);
    let ends = match &context.peer {
        Peer::Local => [None, None, None],
        Peer::Inet { remote, local, proxy } => [Some(*remote), Some(*local), *proxy],
    };
    for end in ends {
        body = body.text(&end.map(|address: SocketAddr| address.to_string()).unwrap_or_default());
    }
    body = body.number(context.values.len() as u64);
    for (name, value) in &context.values {
        body = body.text(name_of(*name)).bytes(value);
    }
    body.done()
}

/// Source and transport of the context are up to whoever serves the connection.
pub fn connection(fd: OwnedFd, body: &[u8]) -> Option<Connection> {
    let mut fields = Reader(body);
    let (instance, reading) = (fields.text()?, fields.text()?);
    let (client, local, received) = (fields.text()?, fields.text()?, fields.bytes()?.to_vec());
    let host_from = fields.text()?;
    let mut end = || fields.text().map(|text| text.parse::<SocketAddr>().ok());
    let peer = match (end()?, end()?, end()?) {
        (Some(remote), Some(local), proxy) => Peer::Inet { remote, local, proxy },
        _ => Peer::Local,
    };
    let mut values = Vec::new();
    for _ in 0..fields.number()? {
        let (name, value) = (fields.text()?, fields.bytes()?);
        // Without room for another name the value is left out.
        values.extend(intern(&name).map(|id| (id, value.into())));
    }
    let context = Context {
        source: "".into(),
        peer,
        host_from: host_from.into(),
        transport: Transport(""),
        ip_protocol: 0,
        values,
    };
    Some(Connection { fd, instance, reading, context: Arc::new(context), client, local, received })
}

/// In as many frames as it takes. The queue stays whole, in case it has to go back.
pub fn send_queue(stream: &UnixStream, queue: &Queue) -> io::Result<()> {
    for chunk in &queue.chunks {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let mut left = chunk.messages();
        for message in chunk.iter() {
            bytes.extend_from_slice(message);
            ends.push(bytes.len() as u64);
            left -= 1;
            if left == 0 || bytes.len() >= PIECE_BYTES {
                let mut body = Writer::new().text(&queue.destination).number(chunk.flow_control.into());
                body = body.number(chunk.write_max as u64).bytes(&bytes).number(ends.len() as u64);
                body = ends.iter().fold(body, |body, end| body.number(*end));
                // Whoever does not know of names does not read on.
                body = queue.outlet.iter().fold(body, |body, name| body.text(name));
                send(stream, Kind::Queue, None, &body.done())?;
                bytes.clear();
                ends.clear();
            }
        }
    }
    Ok(())
}

/// A piece of a queue: the destination, its outlet where that has a name, and what waits there.
pub fn piece(body: &[u8]) -> Option<(String, Option<String>, Chunk)> {
    let mut fields = Reader(body);
    let destination = fields.text()?;
    let (flow_control, write_max) = (fields.number()? == 1, usize::try_from(fields.number()?).ok()?);
    let bytes = fields.bytes()?.to_vec();
    let mut ends = Vec::new();
    for _ in 0..fields.number()? {
        ends.push(u32::try_from(fields.number()?).ok()?);
    }
    let mut chunk = Chunk::of(bytes, ends)?;
    (chunk.flow_control, chunk.write_max) = (flow_control, write_max);
    Some((destination, fields.text(), chunk))
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::take_over::receive;

    #[test]
    fn a_connection_comes_out_as_it_went_in() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let (near, _far) = UnixStream::pair().expect("another one");
        let peer = Peer::Inet {
            remote: "192.0.2.7:1234".parse().expect("address"),
            local: "[2001:db8::1]:514".parse().expect("address"),
            proxy: None,
        };
        let name = intern(".tls.x509_cn").expect("a name");
        let context = Context {
            peer,
            host_from: "sender".into(),
            values: vec![(name, b"client"[..].into())],
            ..Context::local("s", "x", "t")
        };
        let connection = Connection {
            fd: near.into(),
            instance: "tcp,[::]:514".into(),
            reading: "how".into(),
            context: Arc::new(context),
            client: "AF_INET(192.0.2.7:1234)".into(),
            local: "l".into(),
            received: b"<13>hal".to_vec(),
        };
        send_handed(&ours, &Handed::Connection(connection)).expect("sent");
        let frame = receive(&theirs).expect("received");
        for end in 0..frame.body.len() {
            let fd = frame.fd.as_ref().expect("fd").try_clone().expect("clone");
            assert!(super::connection(fd, &frame.body[..end]).is_none(), "cut off at {end}");
        }
        let back = super::connection(frame.fd.expect("fd"), &frame.body).expect("whole");
        assert_eq!((back.instance.as_str(), back.reading.as_str()), ("tcp,[::]:514", "how"));
        assert_eq!((back.received.as_slice(), &*back.context.host_from), (&b"<13>hal"[..], "sender"));
        assert_eq!(back.context.values, [(name, b"client"[..].into())]);
        assert!(matches!(back.context.peer, Peer::Inet { remote, .. } if remote.port() == 1234));
    }

    #[test]
    fn queues_come_out_in_order() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let mut chunk = Chunk::of(b"onetwothree".to_vec(), vec![3, 6, 11]).expect("whole");
        chunk.flow_control = true;
        chunk.skip(1);
        let named = |outlet| Queue { destination: "d#0".into(), outlet, chunks: vec![] };
        send_queue(&ours, &Queue { chunks: vec![chunk], ..named(None) }).expect("sent");
        let frame = receive(&theirs).expect("received");
        let (destination, outlet, back) = piece(&frame.body).expect("whole");
        assert_eq!((destination.as_str(), outlet, back.flow_control), ("d#0", None, true));
        assert_eq!(back.iter().collect::<Vec<_>>(), [b"two".as_slice(), b"three"]);
        assert!((0..frame.body.len()).all(|end| piece(&frame.body[..end]).is_none()));
        let chunk = Chunk::of(b"one".to_vec(), vec![3]).expect("whole");
        send_queue(&ours, &Queue { chunks: vec![chunk], ..named(Some("/var/log/a".into())) }).expect("sent");
        let frame = receive(&theirs).expect("received");
        assert_eq!(piece(&frame.body).expect("whole").1.as_deref(), Some("/var/log/a"));
        assert!(Chunk::of(b"abc".to_vec(), vec![2, 1, 3]).is_none() && Chunk::of(vec![1], vec![]).is_none());
    }
}
