//! PCRE2's library: patterns compiled, and searches from one range of starting places with a limit of steps.
//! The only unsafe code of this crate: every pointer is made, used and freed here, and what is handed out are
//! plain numbers.

#![allow(unsafe_code)]

use super::habit::Habit;
use pcre2_sys::*;
use std::ffi::c_void;
use std::ptr;

/// Stack of the compiled code.
const STACK_BYTES_MAX: usize = 512 << 10;
const STACK_BYTES_MIN: usize = 32 << 10;

/// How a pattern is compiled.
#[derive(Clone, Copy, Default)]
pub struct CodeOptions {
    pub caseless: bool,
    /// A line ends with a newline, a carriage return or both.
    pub any_newline: bool,
    /// Texts are UTF-8; parts that are not match nothing.
    pub utf8: bool,
    pub jit: bool,
}

/// What is wrong with a pattern, in PCRE2's words.
pub struct CodeError {
    pub message: String,
    pub offset: usize,
}

/// A compiled pattern.
pub struct Code {
    code: *mut pcre2_code_8,
    jit: bool,
}

// SAFETY: PCRE2 does not change compiled code while matching; its manual allows it to be used by several
// threads at once.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: made by pcre2_compile_8 and freed once.
        unsafe { pcre2_code_free_8(self.code) }
    }
}

/// What a search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Found,
    Nothing,
    /// The limit of steps was reached.
    Steps,
    /// Another limit: memory, stack.
    Failed,
}

impl Code {
    pub fn compile(pattern: &str, options: CodeOptions) -> Result<Code, CodeError> {
        let mut flags = PCRE2_USE_OFFSET_LIMIT;
        if options.caseless {
            flags |= PCRE2_CASELESS;
        }
        if options.utf8 {
            flags |= PCRE2_UCP | PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
        }
        let (mut error, mut offset) = (0, 0);
        // SAFETY: pattern and length belong together; the context, null without memory, is freed below and
        // not used after; both numbers live as long as the call.
        let code = unsafe {
            let context = pcre2_compile_context_create_8(ptr::null_mut());
            if !context.is_null() && options.any_newline {
                pcre2_set_newline_8(context, PCRE2_NEWLINE_ANYCRLF);
            }
            let code =
                pcre2_compile_8(pattern.as_ptr(), pattern.len(), flags, &mut error, &mut offset, context);
            if !context.is_null() {
                pcre2_compile_context_free_8(context);
            }
            code
        };
        if code.is_null() {
            return Err(CodeError { message: message_of(error), offset });
        }
        // SAFETY: the code is not shared yet. Without the just-in-time compiler it is interpreted.
        let jit = options.jit && unsafe { pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE) } == 0;
        Ok(Code { code, jit })
    }

    fn info(&self, what: u32) -> usize {
        let mut value: u32 = 0;
        // SAFETY: what is asked for are numbers of 32 bits.
        unsafe { pcre2_pattern_info_8(self.code, what, (&raw mut value).cast::<c_void>()) };
        value as usize
    }

    /// The name of each group, from group 0 on.
    pub fn names(&self) -> Vec<Option<String>> {
        let mut names = vec![None; self.info(PCRE2_INFO_CAPTURECOUNT) + 1];
        let (count, size) = (self.info(PCRE2_INFO_NAMECOUNT), self.info(PCRE2_INFO_NAMEENTRYSIZE));
        let mut table: *const u8 = ptr::null();
        // SAFETY: PCRE2 answers with the place of its table, which lives as long as the code and has `count`
        // entries of `size` bytes.
        let table = unsafe {
            pcre2_pattern_info_8(self.code, PCRE2_INFO_NAMETABLE, (&raw mut table).cast::<c_void>());
            if table.is_null() || count * size == 0 {
                return names;
            }
            std::slice::from_raw_parts(table, count * size)
        };
        for entry in table.chunks_exact(size) {
            let [high, low, name @ ..] = entry else { continue };
            let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            let place = usize::from(*high) << 8 | usize::from(*low);
            if let Some(slot) = names.get_mut(place) {
                *slot = Some(String::from_utf8_lossy(name.get(..length).unwrap_or_default()).into_owned());
            }
        }
        names
    }
}

/// The memory of searches for one pattern by one worker.
pub struct Memory {
    data: *mut pcre2_match_data_8,
    context: *mut pcre2_match_context_8,
    stack: *mut pcre2_jit_stack_8,
    /// What attempts have come to.
    pub habit: Habit,
}

// SAFETY: it is used by one thread at a time, as all that use it take it mutably, and PCRE2 ties nothing in
// it to a thread.
unsafe impl Send for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: each was made in `new`, is null or valid, and is freed once.
        unsafe {
            if !self.stack.is_null() {
                pcre2_jit_stack_free_8(self.stack);
            }
            if !self.data.is_null() {
                pcre2_match_data_free_8(self.data);
            }
            if !self.context.is_null() {
                pcre2_match_context_free_8(self.context);
            }
        }
    }
}

impl Memory {
    pub fn new(code: &Code) -> Memory {
        // SAFETY: what cannot be made for want of memory is null, which `find` and `drop` look for; the stack
        // is freed after its context was used for the last time.
        unsafe {
            let context = pcre2_match_context_create_8(ptr::null_mut());
            let data = pcre2_match_data_create_from_pattern_8(code.code, ptr::null_mut());
            let mut stack = ptr::null_mut();
            if code.jit && !context.is_null() {
                stack = pcre2_jit_stack_create_8(STACK_BYTES_MIN, STACK_BYTES_MAX, ptr::null_mut());
                if !stack.is_null() {
                    pcre2_jit_stack_assign_8(context, None, stack.cast::<c_void>());
                }
            }
            Memory { data, context, stack, habit: Habit::default() }
        }
    }

    /// The leftmost match that begins at `from` or later and at `last` at the latest. `steps` bounds the way
    /// from each starting place.
    pub fn find(&mut self, code: &Code, text: &[u8], from: usize, last: usize, steps: u32) -> Answer {
        if self.data.is_null() || self.context.is_null() || from > text.len() {
            return Answer::Failed;
        }
        // PCRE2 may look at the first byte of an empty text, so there has to be one.
        let start = if text.is_empty() { [0].as_ptr() } else { text.as_ptr() };
        // SAFETY: data and context are valid and were made for this code (the ticket of the cache says so);
        // text and length belong together, and `from` is not beyond it.
        let result = unsafe {
            pcre2_set_match_limit_8(self.context, steps);
            pcre2_set_offset_limit_8(self.context, last);
            pcre2_match_8(code.code, start, text.len(), from, 0, self.data, self.context)
        };
        match result {
            0.. => Answer::Found,
            PCRE2_ERROR_NOMATCH => Answer::Nothing,
            PCRE2_ERROR_MATCHLIMIT => Answer::Steps,
            _ => Answer::Failed,
        }
    }

    /// The places of the groups of the match that was found last.
    pub fn groups(&self) -> impl Iterator<Item = Option<(usize, usize)>> + '_ {
        // SAFETY: the vector has two numbers for each of `count` groups and lives as long as the data, which
        // is borrowed.
        let pairs = unsafe {
            let count = pcre2_get_ovector_count_8(self.data) as usize;
            std::slice::from_raw_parts(pcre2_get_ovector_pointer_8(self.data), 2 * count)
        };
        pairs.chunks_exact(2).map(|pair| match pair {
            [start, end] if *start != usize::MAX && start <= end => Some((*start, *end)),
            _ => None,
        })
    }
}

fn message_of(error: i32) -> String {
    let mut buffer = [0u8; 256];
    // SAFETY: PCRE2 writes at most as many bytes as the buffer has, with a zero at the end.
    let length = unsafe { pcre2_get_error_message_8(error, buffer.as_mut_ptr(), buffer.len()) };
    let text = buffer.get(..usize::try_from(length).unwrap_or_default()).unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// The version of PCRE2 that this program is made with.
pub fn version() -> (u32, u32) {
    (PCRE2_MAJOR, PCRE2_MINOR)
}
