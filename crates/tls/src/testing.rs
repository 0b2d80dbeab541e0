//! Certificates made for a test, and what OCSP responders say about them.

pub mod answers;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};
use std::path::{Path, PathBuf};

pub struct Authority {
    pub certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key as files.
pub struct Identity {
    pub cert: PathBuf,
    pub key: PathBuf,
    pub der: Vec<u8>,
}

impl Authority {
    pub fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        Authority { certificate, issuer: Issuer::new(params, key) }
    }

    /// An authority that this one has signed.
    pub fn below(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Authority {
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Authority { certificate, issuer: Issuer::new(params, key) }
    }

    pub fn key(&self) -> &KeyPair {
        self.issuer.key()
    }

    /// The authority's own certificate and key, as if it were a server.
    pub fn itself(&self, folder: &Path) -> Identity {
        let (cert, key) = (self.write(folder, "itself.pem"), folder.join("itself.key"));
        std::fs::write(&key, self.issuer.key().serialize_pem()).expect("a file");
        Identity { cert, key, der: self.certificate.der().to_vec() }
    }

    pub fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, self.certificate.pem()).expect("a file");
        path
    }

    /// A certificate for these hosts; `change` may spoil it.
    pub fn identity(
        &self,
        folder: &Path,
        name: &str,
        hosts: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Identity {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts).expect("parameters");
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CountryName, "DE");
        params.distinguished_name.push(DnType::OrganizationName, "Example, Inc");
        params.distinguished_name.push(DnType::OrganizationalUnitName, "logs");
        params.distinguished_name.push(DnType::CommonName, name);
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let identity = Identity {
            cert: folder.join(format!("{name}.pem")),
            key: folder.join(format!("{name}.key")),
            der: certificate.der().to_vec(),
        };
        std::fs::write(&identity.cert, certificate.pem()).expect("a file");
        std::fs::write(&identity.key, key.serialize_pem()).expect("a file");
        identity
    }

    /// A revocation list with one serial number in a folder of its own.
    pub fn revoke(&self, folder: &Path, serial: u64) -> PathBuf {
        self.revocations(folder, serial, 2200)
    }

    /// The same, good until then.
    pub fn revocations(&self, folder: &Path, serial: u64, until: i32) -> PathBuf {
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(until, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: vec![RevokedCertParams {
                serial_number: SerialNumber::from(serial),
                revocation_time: date_time_ymd(2021, 1, 1),
                reason_code: None,
                invalidity_date: None,
            }],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = params.signed_by(&self.issuer).expect("a list");
        let dir = folder.join("crl");
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(dir.join("list.pem"), list.pem().expect("PEM")).expect("a file");
        dir
    }
}
