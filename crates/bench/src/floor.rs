//! The floor: the least a receiver can do. It takes what each connection has with one read and writes it to a
//! file with one write; it parses nothing and even tears lines of different connections apart. Its CPU per
//! message is what every receiver's is measured in. It also serves as the sink of relays.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::event::epoll;
use rustix::fs::{Mode, OFlags, inotify};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

const BUFFER_BYTES: usize = 256 * 1024;
const EVENTS: usize = 64;
const BACKLOG: i32 = 4096;

/// How often each file that is followed is read.
const LOOK: Duration = Duration::from_secs(1);

/// `floor-receiver PORT FILE [--udp | --files FOLDER | --followed FOLDER]`: runs until it is killed.
pub fn run(args: &[OsString]) -> ExitCode {
    let udp = args.get(2).is_some_and(|arg| arg == "--udp");
    let port = args.first().and_then(|port| port.to_str()?.parse::<u16>().ok());
    let (Some(port), Some(file)) = (port, args.get(1)) else {
        stdio::err!("usage: floor-receiver PORT FILE [--udp | --files FOLDER | --followed FOLDER]");
        return ExitCode::from(2);
    };
    loggen::send::allow_descriptors(loggen::send::CONNECTIONS_MAX as u64);
    let folder = |how: &str| args.get(2).filter(|arg| *arg == how).and(args.get(3));
    let Err(error) = match (folder("--files"), folder("--followed")) {
        (Some(folder), _) => files(port, file.as_ref(), folder.as_ref()),
        (_, Some(folder)) => followed(port, file.as_ref(), folder.as_ref()),
        _ if udp => datagrams(port, file.as_ref()),
        _ => streams(port, file.as_ref()),
    };
    stdio::err!("floor-receiver: {error}");
    ExitCode::FAILURE
}

fn open(file: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
    rustix::fs::open(file, flags, Mode::from_raw_mode(0o644))
}

fn bind(kind: SocketType, port: u16) -> Result<OwnedFd, Errno> {
    let socket = rustix::net::socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    rustix::net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    Ok(socket)
}

fn streams(port: u16, file: &Path) -> Result<std::convert::Infallible, Errno> {
    let out = open(file)?;
    let listener = bind(SocketType::STREAM, port)?;
    rustix::net::listen(&listener, BACKLOG)?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let listening = listener.as_raw_fd();
    epoll::add(&epoll, &listener, epoll::EventData::new_u64(listening as u64), epoll::EventFlags::IN)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    // By descriptor number.
    let mut conns: Vec<Option<OwnedFd>> = Vec::new();
    let mut events: Vec<epoll::Event> = Vec::with_capacity(EVENTS);
    loop {
        events.clear();
        match epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        for event in &events {
            let number = event.data.u64() as usize;
            if number == listening as usize {
                let conn = rustix::net::accept_with(&listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?;
                let place = conn.as_raw_fd() as usize;
                epoll::add(&epoll, &conn, epoll::EventData::new_u64(place as u64), epoll::EventFlags::IN)?;
                if place >= conns.len() {
                    conns.resize_with(place + 1, || None);
                }
                conns[place] = Some(conn);
                continue;
            }
            let Some(slot) = conns.get_mut(number) else { continue };
            let Some(conn) = slot else { continue };
            match rustix::io::read(conn.as_fd(), &mut buffer[..]) {
                Ok(0) => *slot = None,
                Ok(count) => write(&out, &buffer[..count])?,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => *slot = None,
            }
        }
    }
}

fn datagrams(port: u16, file: &Path) -> Result<std::convert::Infallible, Errno> {
    let out = open(file)?;
    let socket = bind(SocketType::DGRAM, port)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match rustix::io::read(&socket, &mut buffer[..]) {
            Ok(count) => write(&out, &buffer[..count])?,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Copies the files of each folder that is moved into `folder`; the port says that it is ready.
fn files(port: u16, file: &Path, folder: &Path) -> Result<std::convert::Infallible, Errno> {
    let out = open(file)?;
    let notify = arrivals(folder, inotify::CreateFlags::CLOEXEC)?;
    let listener = bind(SocketType::STREAM, port)?;
    rustix::net::listen(&listener, BACKLOG)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut events = vec![std::mem::MaybeUninit::uninit(); 4096];
    let mut events = inotify::Reader::new(&notify, &mut events);
    loop {
        for input in inputs(&events.next()?, folder)? {
            while copy(&input, &out, &mut buffer)? > 0 {}
        }
    }
}

/// The same, and what is appended to them from then on: a read of each file a second, whether anything was.
fn followed(port: u16, file: &Path, folder: &Path) -> Result<std::convert::Infallible, Errno> {
    let out = open(file)?;
    let notify = arrivals(folder, inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
    let listener = bind(SocketType::STREAM, port)?;
    rustix::net::listen(&listener, BACKLOG)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut events = vec![std::mem::MaybeUninit::uninit(); 4096];
    let mut events = inotify::Reader::new(&notify, &mut events);
    let mut open: Vec<OwnedFd> = Vec::new();
    loop {
        let begin = Instant::now();
        match events.next() {
            Ok(event) => {
                open.extend(inputs(&event, folder)?);
                continue;
            }
            Err(Errno::AGAIN) => {}
            Err(error) => return Err(error),
        }
        for input in &open {
            while copy(input, &out, &mut buffer)? == buffer.len() {}
        }
        std::thread::sleep(LOOK.saturating_sub(begin.elapsed()));
    }
}

fn arrivals(folder: &Path, flags: inotify::CreateFlags) -> Result<OwnedFd, Errno> {
    let notify = inotify::init(flags)?;
    inotify::add_watch(&notify, folder, inotify::WatchFlags::MOVED_TO)?;
    Ok(notify)
}

/// The files of a folder that came.
fn inputs(event: &inotify::Event<'_>, folder: &Path) -> Result<Vec<OwnedFd>, Errno> {
    let Some(name) = event.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Ok(Vec::new());
    };
    let paths = crate::files::below(&folder.join(name));
    let open = |path| rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    paths.into_iter().map(open).collect()
}

/// One read and one write; returns how many bytes.
fn copy(input: &OwnedFd, out: &OwnedFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    loop {
        match rustix::io::read(input, &mut *buffer) {
            Ok(count) => return write(out, &buffer[..count]).map(|()| count),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

fn write(out: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(out, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
