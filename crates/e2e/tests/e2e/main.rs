//! End-to-end tests: the real binary, real sockets, real files, other receivers where they are installed.

mod golden;
