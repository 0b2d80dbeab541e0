//! End-to-end tests: the real binary, real sockets, real files, other receivers where they are installed.

mod check;
mod command_line;
mod correlation;
mod files;
mod golden;
mod hostile;
mod interop;
mod messages;
mod order;
mod receive;
mod relay;
mod reload;
mod rltp;
mod signals;
mod tls;
mod trouble;
mod udp;
