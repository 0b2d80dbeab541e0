//! The library, loaded once, and what it says of its errors.
//!
//! Calls into it are foreign code and therefore unsafe. It is told to be safe for threads as long as no two
//! of them use one object at a time, and each object here has one owner.
#![allow(unsafe_code)]

use crate::Error;
use crate::types::{
    AcquireFrom, Buffer, DeleteContext, DisplayStatus, ERRORS, ImportName, InitContext, KERBEROS, MAJOR_CODE,
    MINOR_CODE, ReleaseBuffer, ReleaseCredentials, ReleaseName, Unwrap, Wrap,
};
use libloading::Library as Loaded;
use std::ptr;
use std::sync::OnceLock;

pub const NAME: &str = "libgssapi_krb5.so.2";
/// Parts of the words for one code.
const PARTS_MAX: usize = 8;

/// What is called of it.
pub struct Library {
    pub import_name: ImportName,
    pub release_name: ReleaseName,
    pub acquire_from: AcquireFrom,
    pub release_credentials: ReleaseCredentials,
    pub init_context: InitContext,
    pub delete_context: DeleteContext,
    pub wrap: Wrap,
    pub unwrap: Unwrap,
    release_buffer: ReleaseBuffer,
    display_status: DisplayStatus,
    /// The functions are there as long as it is.
    _loaded: Loaded,
}

impl Library {
    /// A library that is not there may be there at the next login.
    pub fn get() -> Result<&'static Library, Error> {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        if let Some(library) = LIBRARY.get() {
            return Ok(library);
        }
        let library = Library::load().map_err(|error| Error::NoLibrary(error.to_string()))?;
        Ok(LIBRARY.get_or_init(|| library))
    }

    fn load() -> Result<Library, libloading::Error> {
        // SAFETY: what runs when it is loaded is MIT's own, and the types are those of RFC 2744 and of MIT's
        // header for the extension.
        unsafe {
            let loaded = Loaded::new(NAME)?;
            Ok(Library {
                import_name: *loaded.get(b"gss_import_name")?,
                release_name: *loaded.get(b"gss_release_name")?,
                acquire_from: *loaded.get(b"gss_acquire_cred_from")?,
                release_credentials: *loaded.get(b"gss_release_cred")?,
                init_context: *loaded.get(b"gss_init_sec_context")?,
                delete_context: *loaded.get(b"gss_delete_sec_context")?,
                wrap: *loaded.get(b"gss_wrap")?,
                unwrap: *loaded.get(b"gss_unwrap")?,
                release_buffer: *loaded.get(b"gss_release_buffer")?,
                display_status: *loaded.get(b"gss_display_status")?,
                _loaded: loaded,
            })
        }
    }

    /// What a call has come to: its codes as an error where they are one. Otherwise the major code.
    pub fn judged(&self, doing: &str, major: u32, minor: u32) -> Result<u32, Error> {
        if major & ERRORS == 0 {
            return Ok(major);
        }
        // Where the mechanism has words, those of the interface say nothing beside them.
        let why = [(minor, MINOR_CODE), (major, MAJOR_CODE)]
            .into_iter()
            .filter(|(code, _)| *code != 0)
            .map(|(code, kind)| self.words(code, kind))
            .find(|words| !words.is_empty());
        Err(Error::Failed {
            doing: doing.to_owned(),
            why: why.unwrap_or_else(|| format!("error {major:#x}, {minor}")),
        })
    }

    fn words(&self, code: u32, kind: i32) -> String {
        let (mut parts, mut more) = (Vec::new(), 0);
        for _ in 0..PARTS_MAX {
            let (mut minor, mut text) = (0, Owned::new(self));
            // SAFETY: all places are there for the call, and the text is released by its owner.
            let major =
                unsafe { (self.display_status)(&mut minor, code, kind, &KERBEROS, &mut more, text.place()) };
            if major & ERRORS != 0 {
                break;
            }
            parts.push(String::from_utf8_lossy(text.bytes()).into_owned());
            if more == 0 {
                break;
            }
        }
        parts.join(", ")
    }
}

/// A buffer that the library fills, and that is given back to it.
pub struct Owned<'l> {
    library: &'l Library,
    buffer: Buffer,
}

impl<'l> Owned<'l> {
    pub fn new(library: &'l Library) -> Owned<'l> {
        Owned { library, buffer: Buffer { length: 0, value: ptr::null_mut() } }
    }

    /// Where the library puts it, once.
    pub fn place(&mut self) -> *mut Buffer {
        &mut self.buffer
    }

    pub fn bytes(&self) -> &[u8] {
        if self.buffer.value.is_null() {
            return &[];
        }
        // SAFETY: the library has put so many bytes there, which stay until they are released.
        unsafe { std::slice::from_raw_parts(self.buffer.value.cast(), self.buffer.length) }
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: it is empty, or the library has filled it; what it cannot release is lost memory.
        unsafe { (self.library.release_buffer)(&mut minor, &mut self.buffer) };
    }
}

/// Bytes of ours, lent to the library for a call that does not change them.
pub fn lent(bytes: &[u8]) -> Buffer {
    Buffer { length: bytes.len(), value: bytes.as_ptr().cast_mut().cast() }
}
