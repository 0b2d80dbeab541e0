//! `http()` on a worker, against a server that this file plays.
