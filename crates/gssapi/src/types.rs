//! The types of the C interface, RFC 2744 and MIT's extensions to it, for the platforms that penstock is
//! built for: `OM_uint32` is 32 bits wide, and no structure is packed.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};

/// Of the major status: the bits of errors of the call, and of the routine.
pub const ERRORS: u32 = 0xffff_0000;
/// Another token is expected.
pub const CONTINUE_NEEDED: u32 = 1;
/// Flags of a context.
pub const MUTUAL: u32 = 2;
pub const SEQUENCE: u32 = 8;
pub const INTEGRITY: u32 = 32;
/// Kinds of codes that have words.
pub const MAJOR_CODE: i32 = 1;
pub const MINOR_CODE: i32 = 2;
/// What credentials are for.
pub const INITIATE: i32 = 1;
/// As long as possible.
pub const INDEFINITE: u32 = u32::MAX;

#[repr(C)]
pub struct Buffer {
    pub length: usize,
    pub value: *mut c_void,
}

#[repr(C)]
pub struct Oid {
    pub length: u32,
    pub elements: *const u8,
}

// SAFETY: those there are point at constants.
unsafe impl Sync for Oid {}

impl Oid {
    const fn of(elements: &'static [u8]) -> Oid {
        Oid { length: elements.len() as u32, elements: elements.as_ptr() }
    }
}

/// `GSS_C_NT_HOSTBASED_SERVICE`.
pub static HOST_BASED_SERVICE: Oid = Oid::of(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 1, 4]);
/// `GSS_KRB5_NT_PRINCIPAL_NAME`.
pub static PRINCIPAL: Oid = Oid::of(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2, 1]);
/// The mechanism Kerberos 5.
pub static KERBEROS: Oid = Oid::of(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2]);

#[repr(C)]
pub struct OidSet {
    pub count: usize,
    pub elements: *const Oid,
}

/// Where credentials are, by names.
#[repr(C)]
pub struct Element {
    pub key: *const c_char,
    pub value: *const c_char,
}

#[repr(C)]
pub struct Store {
    pub count: u32,
    pub elements: *const Element,
}

pub type Name = *mut c_void;
pub type Credentials = *mut c_void;
pub type ContextId = *mut c_void;

pub type ImportName = unsafe extern "C" fn(*mut u32, *const Buffer, *const Oid, *mut Name) -> u32;
pub type ReleaseName = unsafe extern "C" fn(*mut u32, *mut Name) -> u32;
pub type AcquireFrom = unsafe extern "C" fn(
    *mut u32,
    Name,
    u32,
    *const OidSet,
    i32,
    *const Store,
    *mut Credentials,
    *mut *mut OidSet,
    *mut u32,
) -> u32;
pub type ReleaseCredentials = unsafe extern "C" fn(*mut u32, *mut Credentials) -> u32;
pub type InitContext = unsafe extern "C" fn(
    *mut u32,
    Credentials,
    *mut ContextId,
    Name,
    *const Oid,
    u32,
    u32,
    *const c_void,
    *const Buffer,
    *mut *const Oid,
    *mut Buffer,
    *mut u32,
    *mut u32,
) -> u32;
pub type DeleteContext = unsafe extern "C" fn(*mut u32, *mut ContextId, *mut Buffer) -> u32;
pub type Wrap =
    unsafe extern "C" fn(*mut u32, ContextId, i32, u32, *const Buffer, *mut i32, *mut Buffer) -> u32;
pub type Unwrap =
    unsafe extern "C" fn(*mut u32, ContextId, *const Buffer, *mut Buffer, *mut i32, *mut u32) -> u32;
pub type ReleaseBuffer = unsafe extern "C" fn(*mut u32, *mut Buffer) -> u32;
pub type DisplayStatus = unsafe extern "C" fn(*mut u32, u32, i32, *const Oid, *mut u32, *mut Buffer) -> u32;
