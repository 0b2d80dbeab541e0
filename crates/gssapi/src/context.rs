//! A security context of the side that begins, and what it is made of.
#![allow(unsafe_code)]

use crate::library::{Library, Owned, lent};
use crate::types::{
    CONTINUE_NEEDED, ContextId, Credentials, Element, HOST_BASED_SERVICE, INDEFINITE, INITIATE, INTEGRITY,
    KERBEROS, MUTUAL, Name, Oid, OidSet, PRINCIPAL, SEQUENCE, Store,
};
use crate::{Error, Service, Whom};
use std::ffi::CString;
use std::ptr;

/// A name as the library has it.
struct Named {
    library: &'static Library,
    name: Name,
}

impl Named {
    fn of(library: &'static Library, text: &str, kind: &'static Oid) -> Result<Named, Error> {
        let (mut minor, mut name) = (0, ptr::null_mut());
        // SAFETY: all places are there for the call, and the name is released by its owner.
        let major = unsafe { (library.import_name)(&mut minor, &lent(text.as_bytes()), kind, &mut name) };
        let named = Named { library, name };
        library.judged("read a name", major, minor).map(|_| named)
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: it is what the library has made, or null, which it takes too.
        unsafe { (self.library.release_name)(&mut minor, &mut self.name) };
    }
}

/// Tickets, or where they come from.
struct Held {
    library: &'static Library,
    credentials: Credentials,
}

impl Held {
    fn of(library: &'static Library, whom: &Whom) -> Result<Option<Held>, Error> {
        let Whom::Keytab { principal, file } = whom else { return Ok(None) };
        let doing = format!("use the keys of {principal} in {}", file.display());
        let no_text = |_| Error::Failed { doing: doing.clone(), why: "a name has a zero byte".to_owned() };
        let text = |text: String| CString::new(text).map_err(no_text);
        let keytab = text(format!("FILE:{}", file.display()))?;
        // Tickets are kept in memory, and shared by all who show the same keys.
        let cache = text(format!("MEMORY:penstock {principal} {}", file.display()))?;
        let elements = [
            Element { key: c"client_keytab".as_ptr(), value: keytab.as_ptr() },
            Element { key: c"ccache".as_ptr(), value: cache.as_ptr() },
        ];
        let store = Store { count: elements.len() as u32, elements: elements.as_ptr() };
        let mechanisms = OidSet { count: 1, elements: &KERBEROS };
        let name = Named::of(library, principal, &PRINCIPAL)?;
        let (mut minor, mut credentials) = (0, ptr::null_mut());
        // SAFETY: all places are there for the call, and the credentials are released by their owner.
        let major = unsafe {
            (library.acquire_from)(
                &mut minor,
                name.name,
                INDEFINITE,
                &mechanisms,
                INITIATE,
                &store,
                &mut credentials,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        let held = Held { library, credentials };
        library.judged(&doing, major, minor).map(|_| Some(held))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: it is what the library has made, or null, which it takes too.
        unsafe { (self.library.release_credentials)(&mut minor, &mut self.credentials) };
    }
}

pub struct Context {
    library: &'static Library,
    service: Named,
    held: Option<Held>,
    id: ContextId,
}

// SAFETY: the library lets any thread use an object, one at a time; whoever owns the context owns all of it.
unsafe impl Send for Context {}

impl Context {
    pub fn new(service: &Service, whom: &Whom) -> Result<Context, Error> {
        let library = Library::get()?;
        let name = format!("{}@{}", service.name, service.host);
        let service = Named::of(library, &name, &HOST_BASED_SERVICE)?;
        Ok(Context { library, service, held: Held::of(library, whom)?, id: ptr::null_mut() })
    }

    /// Takes what the other side says, nothing at first. Returns what to tell it, and whether the context is
    /// complete. The first time it asks the servers of the realm.
    pub fn step(&mut self, said: &[u8]) -> Result<(Vec<u8>, bool), Error> {
        let (mut minor, mut answer) = (0, Owned::new(self.library));
        let credentials = self.held.as_ref().map_or(ptr::null_mut(), |held| held.credentials);
        // SAFETY: all places are there for the call; the context is deleted, and the answer released, by
        // their owners.
        let major = unsafe {
            (self.library.init_context)(
                &mut minor,
                credentials,
                &mut self.id,
                self.service.name,
                &KERBEROS,
                MUTUAL | SEQUENCE | INTEGRITY,
                0,
                ptr::null(),
                &lent(said),
                ptr::null_mut(),
                answer.place(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        let major = self.library.judged("log in", major, minor)?;
        Ok((answer.bytes().to_vec(), major & CONTINUE_NEEDED == 0))
    }

    /// Seals bytes against change.
    pub fn wrap(&mut self, text: &[u8]) -> Result<Vec<u8>, Error> {
        let (mut minor, mut sealed) = (0, Owned::new(self.library));
        // SAFETY: as in `step`; the library says when the context is not complete.
        let major = unsafe {
            let place = sealed.place();
            (self.library.wrap)(&mut minor, self.id, 0, 0, &lent(text), ptr::null_mut(), place)
        };
        self.library.judged("seal an answer", major, minor)?;
        Ok(sealed.bytes().to_vec())
    }

    pub fn unwrap(&mut self, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let (mut minor, mut text) = (0, Owned::new(self.library));
        // SAFETY: as in `wrap`.
        let major = unsafe {
            let (place, nothing) = (text.place(), ptr::null_mut());
            (self.library.unwrap)(&mut minor, self.id, &lent(sealed), place, nothing, ptr::null_mut())
        };
        self.library.judged("open what the server says", major, minor)?;
        Ok(text.bytes().to_vec())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: it is what the library has made, or null, which it takes too.
        unsafe { (self.library.delete_context)(&mut minor, &mut self.id, ptr::null_mut()) };
    }
}
