//! Time stamps of RFC 3161: asked for, read, and held against whom one trusts.
//!
//! What is stamped is the file MAC behind a chunk, which stands for everything in the file up to there.

use crate::der::{self, Element, FIELD_0, INTEGER, OCTETS, OID, SEQUENCE, SET};
use crate::digest::Digest;
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use std::io::{Error, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// An authority that takes longer is asked again later.
const PATIENCE: Duration = Duration::from_secs(10);
/// A longer answer is none.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
const TST_INFO: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x04];
const MESSAGE_DIGEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04];
/// id-kp-timeStamping
const FOR_STAMPS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x08];

/// The request for a stamp of a digest. `policy`: an object identifier as DER has it; see [`policy`].
pub fn request(digest: Digest, imprint: &[u8], policy: Option<&[u8]>, nonce: u64) -> Vec<u8> {
    let algorithm = der::write(SEQUENCE, &[&der::write(OID, &[digest.oid()]), &[0x05, 0x00]]);
    let imprint = der::write(SEQUENCE, &[&algorithm, &der::write(OCTETS, &[imprint])]);
    let policy = policy.map(|policy| der::write(OID, &[policy])).unwrap_or_default();
    // The first byte keeps it positive.
    let nonce = der::write(INTEGER, &[&[1], &nonce.to_be_bytes()]);
    der::write(SEQUENCE, &[&[INTEGER, 1, 1], &imprint, &policy, &nonce, &[0x01, 0x01, 0xff]])
}

/// `1.2.3.4` as DER has it.
pub fn policy(text: &str) -> Option<Vec<u8>> {
    let mut numbers = text.split('.').map(|number| number.parse::<u32>().ok());
    let (first, second) = (numbers.next()??, numbers.next()??);
    if first > 2 || (first < 2 && second > 39) {
        return None;
    }
    let mut out = Vec::new();
    for number in std::iter::once(Some(first.checked_mul(40)?.checked_add(second)?)).chain(numbers) {
        let number = number?;
        let digits = (0..5).rev().map(|at| (number >> (7 * at)) as u8 & 0x7f);
        let mut digits: Vec<u8> = digits.skip_while(|digit| *digit == 0).collect();
        if digits.is_empty() {
            digits.push(0);
        }
        let last = digits.len() - 1;
        digits.iter_mut().take(last).for_each(|digit| *digit |= 0x80);
        out.extend_from_slice(&digits);
    }
    Some(out)
}

/// The token of an authority's answer.
pub fn answered(answer: &[u8]) -> Result<&[u8], String> {
    let wrong = || "the answer is none of a time stamping authority".to_owned();
    let mut fields = der::one(answer, SEQUENCE).ok_or_else(wrong)?.inner();
    let mut status = fields.want(SEQUENCE).ok_or_else(wrong)?.inner();
    let number = status.want(INTEGER).ok_or_else(wrong)?.content;
    if !matches!(number, [0 | 1]) {
        let words: Vec<u8> = status.flat_map(|element| element.content.iter().copied()).collect();
        let words: String =
            String::from_utf8_lossy(&words).chars().filter(|c| c.is_ascii_graphic() || *c == ' ').collect();
        return Err(format!(
            "the authority refuses (status {}) {words}",
            number.last().copied().unwrap_or_default()
        ));
    }
    fields.want(SEQUENCE).map(|token| token.whole).ok_or_else(wrong)
}

/// Asks an authority, `http://HOST[:PORT]/PATH`, and waits for its answer.
pub fn ask(url: &str, request: &[u8]) -> Result<Vec<u8>, Error> {
    let wrong = |what: &str| Error::new(ErrorKind::InvalidData, what.to_owned());
    let (host, path) = target(url).ok_or_else(|| wrong("the address is no http:// address"))?;
    let address = if host.contains(':') { host.clone() } else { format!("{host}:80") };
    let address = address.to_socket_addrs()?.next().ok_or(ErrorKind::AddrNotAvailable)?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = format!(
        "POST {path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/timestamp-query\r\nContent-Length: {}\r\n\r\n",
        request.len()
    );
    stream.write_all(&[head.as_bytes(), request].concat())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    let end = answer
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .ok_or_else(|| wrong("the answer has no end of its head"))?;
    let body = answer.split_off(end + 4);
    let line = String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned();
    match line.split(' ').nth(1) {
        Some("200") => Ok(body),
        _ => Err(wrong(&format!("the authority answers `{line}`"))),
    }
}

fn target(url: &str) -> Option<(String, String)> {
    let rest = url.strip_prefix("http://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_graphic());
    (!host.is_empty() && plain(rest)).then(|| (host.to_owned(), format!("/{path}")))
}

/// Whether [`ask`] can ask there.
pub fn is_address(url: &str) -> bool {
    target(url).is_some()
}

/// A token taken apart.
#[derive(Debug)]
pub struct Token<'a> {
    /// What was stamped, and how it was made.
    pub imprint: (Option<Digest>, &'a [u8]),
    /// The policy, as DER has it.
    pub policy: &'a [u8],
    /// `YYYYMMDDhhmmss[.f]Z`.
    pub time: &'a str,
    info: &'a [u8],
    certificates: Vec<&'a [u8]>,
    signer: Signer<'a>,
}

#[derive(Debug)]
struct Signer<'a> {
    /// The issuer and the serial number of its certificate, or nothing.
    named: Option<(&'a [u8], &'a [u8])>,
    digest: &'a [u8],
    attributes: Option<Element<'a>>,
    signature: &'a [u8],
}

/// Out of a token, or out of an authority's whole answer, which is what stores have.
pub fn token(bytes: &[u8]) -> Option<Token<'_>> {
    let is_answer = der::one(bytes, SEQUENCE)?.inner().next()?.tag == SEQUENCE;
    let bytes = if is_answer { answered(bytes).ok()? } else { bytes };
    let mut content = der::one(bytes, SEQUENCE)?.inner();
    (content.want(OID)?.content == SIGNED_DATA).then_some(())?;
    let mut signed = der::one(content.want(FIELD_0)?.content, SEQUENCE)?.inner();
    signed.want(INTEGER)?;
    signed.want(SET)?;
    let mut inside = signed.want(SEQUENCE)?.inner();
    (inside.want(OID)?.content == TST_INFO).then_some(())?;
    let info = der::one(inside.want(FIELD_0)?.content, OCTETS)?.content;
    let certificates =
        signed.want(FIELD_0).map(|all| all.inner().map(|one| one.whole).collect()).unwrap_or_default();
    signed.want(der::FIELD_1);
    let signer = signer(signed.want(SET)?.inner().want(SEQUENCE)?)?;

    let mut fields = der::one(info, SEQUENCE)?.inner();
    fields.want(INTEGER)?;
    let policy = fields.want(OID)?.content;
    let mut imprint = fields.want(SEQUENCE)?.inner();
    let digest = Digest::of_oid(imprint.want(SEQUENCE)?.inner().want(OID)?.content);
    let imprint = (digest, imprint.want(OCTETS)?.content);
    fields.want(INTEGER)?;
    let time = std::str::from_utf8(fields.want(0x18)?.content).ok()?;
    Some(Token { imprint, policy, time, info, certificates, signer })
}

fn signer(info: Element<'_>) -> Option<Signer<'_>> {
    let mut fields = info.inner();
    fields.want(INTEGER)?;
    let named = match fields.want(SEQUENCE) {
        Some(named) => {
            let mut named = named.inner();
            Some((named.want(SEQUENCE)?.whole, named.want(INTEGER)?.content))
        }
        None => {
            fields.next()?;
            None
        }
    };
    let digest = fields.want(SEQUENCE)?.inner().want(OID)?.content;
    let attributes = fields.want(FIELD_0);
    fields.want(SEQUENCE)?;
    Some(Signer { named, digest, attributes, signature: fields.want(OCTETS)?.content })
}

/// Whose stamps are believed.
pub struct Authorities {
    certificates: Vec<CertificateDer<'static>>,
}

impl Authorities {
    pub fn new(certificates: Vec<CertificateDer<'static>>) -> Authorities {
        Authorities { certificates }
    }
}

impl Token<'_> {
    /// Seconds since 1970.
    pub fn seconds(&self) -> Option<u64> {
        let number = |from: usize, to: usize| self.time.get(from..to)?.parse::<u64>().ok();
        let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
        let (hour, minute, second) = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
        if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        // Days before a year that begins with March.
        let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1;
        Some((days.checked_sub(719_468)? * 24 + hour) * 3600 + minute * 60 + second)
    }

    /// Whether the signature is right, and that of an authority which may stamp; the error says what is not.
    pub fn verify(&self, trusted: &Authorities) -> Result<(), &'static str> {
        let certificate = self.certificate().ok_or("the certificate of the authority is not in the stamp")?;
        self.signature(certificate)?;
        let anchors: Vec<TrustAnchor<'_>> = trusted
            .certificates
            .iter()
            .filter_map(|der| webpki::anchor_from_trusted_cert(der).ok())
            .collect();
        let own = CertificateDer::from(certificate);
        let own = webpki::EndEntityCert::try_from(&own)
            .map_err(|_| "the certificate of the authority cannot be read")?;
        let between: Vec<CertificateDer<'_>> =
            self.certificates.iter().map(|der| CertificateDer::from(*der)).collect();
        let time = self.seconds().ok_or("the time of the stamp cannot be read")?;
        let time = UnixTime::since_unix_epoch(Duration::from_secs(time));
        let usage = webpki::KeyUsage::required(FOR_STAMPS);
        own.verify_for_usage(webpki::ALL_VERIFICATION_ALGS, &anchors, &between, time, usage, None, None)
            .map(|_| ())
            .map_err(|_| "the authority is not one that is trusted, or may not stamp")
    }

    /// The certificate of who has signed.
    fn certificate(&self) -> Option<&[u8]> {
        let is_named = |der: &&&[u8]| {
            let parts = der::certificate(der);
            parts.is_some_and(|parts| {
                self.signer.named.is_none_or(|named| named == (parts.issuer, parts.serial))
            })
        };
        self.certificates.iter().find(is_named).copied()
    }

    fn signature(&self, certificate: &[u8]) -> Result<(), &'static str> {
        const WRONG: &str = "the signature of the stamp is wrong";
        let digest =
            Digest::of_oid(self.signer.digest).ok_or("the stamp is signed in a way that is not known")?;
        let attributes = self.signer.attributes.ok_or("the stamp has no signed attributes")?;
        let said = attributes.inner().find_map(|attribute| {
            let mut fields = attribute.inner();
            (fields.want(OID)?.content == MESSAGE_DIGEST).then_some(())?;
            Some(der::one(fields.want(SET)?.content, OCTETS)?.content)
        });
        if said != Some(digest.of(&[self.info]).as_slice()) {
            return Err(WRONG);
        }
        // What is signed are the attributes as a SET.
        let mut signed = attributes.whole.to_vec();
        signed.first_mut().into_iter().for_each(|tag| *tag = SET);
        let key = der::public_key(certificate)
            .and_then(public_bits)
            .ok_or("the key of the authority cannot be read")?;
        let is_right = |algorithm: &'static dyn VerificationAlgorithm| {
            UnparsedPublicKey::new(algorithm, key).verify(&signed, self.signer.signature).is_ok()
        };
        if algorithms(digest).into_iter().any(is_right) { Ok(()) } else { Err(WRONG) }
    }
}

/// The bits of a SubjectPublicKeyInfo.
fn public_bits(info: &[u8]) -> Option<&[u8]> {
    let mut fields = der::one(info, SEQUENCE)?.inner();
    fields.want(SEQUENCE)?;
    fields.want(0x03)?.content.split_first().map(|(_, bits)| bits)
}

/// Those that a key of any kind may be for.
fn algorithms(digest: Digest) -> Vec<&'static dyn VerificationAlgorithm> {
    match digest {
        Digest::Sha1 => vec![&signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY],
        Digest::Sha256 => vec![
            &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
            &signature::ECDSA_P256_SHA256_ASN1,
            &signature::ECDSA_P384_SHA256_ASN1,
        ],
        Digest::Sha384 => vec![
            &signature::RSA_PKCS1_2048_8192_SHA384,
            &signature::ECDSA_P256_SHA384_ASN1,
            &signature::ECDSA_P384_SHA384_ASN1,
        ],
        Digest::Sha512 => vec![&signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY],
    }
}
