//! Runs a fuzz target, which is a function of bytes: `driver::fuzz_target!(|input: &[u8]| read(input));`.

#[cfg(not(soak))]
pub use libfuzzer_sys::fuzz_target;

#[cfg(soak)]
mod mutate;
#[cfg(soak)]
mod soak;

#[cfg(soak)]
pub use soak::soak;

/// The program of the target.
#[cfg(soak)]
#[macro_export]
macro_rules! fuzz_target {
    ($($target:tt)*) => {
        #[unsafe(no_mangle)]
        pub extern "C" fn main() -> i32 {
            $crate::soak(&$($target)*)
        }
    };
}
