//! The benchmark: receivers side by side in one run, each message delivered and verified, CPU per message as
//! a multiple of the least a receiver can do. `cases` is the table of what is measured; everything else
//! serves it. How to measure and compare is of use to the fault bench too.

pub mod cases;
pub mod cli;

mod command;
mod conf;
mod control;
mod feeder;
mod files;
mod floor;
mod friction;
mod grpc;
mod hop;
mod http;
mod kafka;
mod looking;
mod matrix;
mod measure;
mod mongodb;
mod place;
mod process;
mod ratio;
mod receiver;
mod redis;
mod reload;
mod report;
mod results;
mod safe;
mod second;
mod sender;
mod sink;
mod stamps;
mod storm;
mod sysctl;

pub use process::cpu_ns;
pub use ratio::Ratio;
