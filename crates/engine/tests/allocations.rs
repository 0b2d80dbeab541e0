//! No message makes a path ask the allocator for memory once its buffers have grown.
#![allow(unsafe_code)]

#[path = "../examples/path_cost/rows.rs"]
mod rows;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting what this thread asks it for.
struct Counting;

fn count() {
    // Of a thread that ends nothing is counted any more.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What may be allocated for a batch, however many messages are in it. A batch here has 160.
const A_BATCH_MAX: usize = 16;

#[test]
fn no_message_allocates() {
    let mut found = Vec::new();
    for (name, config) in rows::all() {
        let mut path = rows::Path::new(&config, rows::messages(name));
        (0..3).for_each(|_| path.run());
        let before = COUNT.get();
        path.run();
        let count = COUNT.get() - before;
        assert_eq!(path.output().iter().filter(|b| **b == b'\n').count(), rows::MESSAGES, "{name}");
        found.push((name, count));
    }
    assert!(found.iter().all(|(_, count)| *count <= A_BATCH_MAX), "{found:?}");
}
