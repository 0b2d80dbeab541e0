//! End-to-end tests of the real binary over real sockets; everything is in `tests/`. This file only makes it
//! a crate.
