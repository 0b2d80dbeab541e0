//! What measures a configuration without touching what it stands for: a copy of it, a program that runs the
//! copy, what is sent to it, and means with their errors.

mod bed;
mod call;
mod copy;
mod folder;
mod load;
mod mean;
mod placement;
mod sink;

pub use bed::{Bed, Measured};
pub use copy::{Copy, Outgoing, Variant};
pub use folder::Folder;
pub use load::{Load, Sample};
pub use mean::{Gain, Mean};
pub use sink::Sink;
