//! End-to-end tests: the real binary, real sockets, real files, other receivers where they are installed.

mod check;
mod command_line;
mod correlation;
mod files;
mod golden;
mod hostile;
mod interop;
mod journal;
mod library;
mod messages;
mod numbers;
mod order;
mod proxied;
mod receive;
mod relay;
mod reload;
mod relp;
mod rltp;
mod signals;
mod tls;
mod tls_keys;
mod tls_many;
mod trouble;
mod udp;
