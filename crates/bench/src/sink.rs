//! What the servers of cases have in common: a port, a file for what is sent, a thread for each connection.

use std::ffi::OsString;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::ExitCode;

/// Has a connection, the file and the port.
pub type Serve = fn(&TcpStream, File, u16) -> std::io::Result<()>;

/// `NAME PORT FILE`: runs until it is killed. Whoever is not understood is told nothing: it
/// would wait, and the case fails.
pub fn run(name: &str, args: &[OsString], serve: Serve) -> ExitCode {
    let port = args.first().and_then(|port| port.to_str()?.parse::<u16>().ok());
    let (Some(port), Some(file)) = (port, args.get(1)) else {
        stdio::err!("usage: {name} PORT FILE");
        return ExitCode::from(2);
    };
    let listen = || -> std::io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        loop {
            let (stream, _) = listener.accept()?;
            // As servers do: answers of several small pieces would wait for the acknowledgement of the first.
            stream.set_nodelay(true)?;
            let out = File::options().create(true).append(true).open(file)?;
            std::thread::spawn(move || drop(serve(&stream, out, port)));
        }
    };
    let Err(error) = listen() else { return ExitCode::SUCCESS };
    stdio::err!("{name}: {error}");
    ExitCode::FAILURE
}
