//! SCRAM (RFC 5802, RFC 7677): each side proves that it knows the password, and neither says it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac, pbkdf2};
use std::num::NonZeroU32;

/// Kafka's own least; less would be a server that wants to know the password.
const ITERATIONS_MIN: u32 = 4096;
/// More would keep a worker busy for long.
const ITERATIONS_MAX: u32 = 1 << 20;

enum Step {
    /// The server is to send salt and count.
    First,
    /// The server is to prove that it knows the password too: with this.
    Final(Vec<u8>),
    Over,
}

pub struct Scram {
    sha512: bool,
    password: String,
    nonce: String,
    /// What was said first, without its head.
    bare: String,
    step: Step,
}

impl Scram {
    /// Begins, and says the first words.
    pub fn begin(sha512: bool, user: &str, password: &str) -> Result<(Scram, Vec<u8>), String> {
        let mut random = [0u8; 24];
        SystemRandom::new().fill(&mut random).map_err(|_| "there are no random numbers")?;
        Ok(Scram::with_nonce(sha512, user, password, STANDARD.encode(random)))
    }

    fn with_nonce(sha512: bool, user: &str, password: &str, nonce: String) -> (Scram, Vec<u8>) {
        let user = user.replace('=', "=3D").replace(',', "=2C");
        let bare = format!("n={user},r={nonce}");
        let words = format!("n,,{bare}").into_bytes();
        (Scram { sha512, password: password.to_owned(), nonce, bare, step: Step::First }, words)
    }

    /// The answer to what the server says; `None` when all is said.
    pub fn hear(&mut self, said: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let said = std::str::from_utf8(said).map_err(|_| "the server's SCRAM words are no text")?;
        if let Some(why) = field(said, 'e') {
            return Err(format!("the server ends the login: {why}"));
        }
        match std::mem::replace(&mut self.step, Step::Over) {
            Step::First => self.prove(said).map(Some),
            Step::Final(expected) => {
                let proof = field(said, 'v').and_then(|v| STANDARD.decode(v).ok());
                match proof.is_some_and(|proof| proof == expected) {
                    true => Ok(None),
                    false => Err("the server does not know the password".to_owned()),
                }
            }
            Step::Over => Err("the server goes on after the login".to_owned()),
        }
    }

    fn prove(&mut self, said: &str) -> Result<Vec<u8>, String> {
        let wrong = || format!("the server's SCRAM words cannot be read: {said}");
        let nonce = field(said, 'r').ok_or_else(wrong)?;
        let salt = field(said, 's').and_then(|s| STANDARD.decode(s).ok()).ok_or_else(wrong)?;
        let iterations: u32 = field(said, 'i').and_then(|i| i.parse().ok()).ok_or_else(wrong)?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err("the server answers another SCRAM login".to_owned());
        }
        let iterations = Some(iterations).filter(|n| (ITERATIONS_MIN..=ITERATIONS_MAX).contains(n));
        let iterations =
            iterations.and_then(NonZeroU32::new).ok_or("the server asks for a strange SCRAM count")?;
        let salted = self.salted(&salt, iterations);
        let without_proof = format!("c=biws,r={nonce}");
        let about = format!("{},{said},{without_proof}", self.bare);
        let client_key = self.hmac(&salted, b"Client Key");
        let signature = self.hmac(&self.digest(&client_key), about.as_bytes());
        let proof: Vec<u8> = client_key.iter().zip(&signature).map(|(a, b)| a ^ b).collect();
        let server_key = self.hmac(&salted, b"Server Key");
        self.step = Step::Final(self.hmac(&server_key, about.as_bytes()));
        Ok(format!("{without_proof},p={}", STANDARD.encode(proof)).into_bytes())
    }

    fn salted(&self, salt: &[u8], iterations: NonZeroU32) -> Vec<u8> {
        let (algorithm, length) = match self.sha512 {
            true => (pbkdf2::PBKDF2_HMAC_SHA512, digest::SHA512_OUTPUT_LEN),
            false => (pbkdf2::PBKDF2_HMAC_SHA256, digest::SHA256_OUTPUT_LEN),
        };
        let mut out = vec![0; length];
        pbkdf2::derive(algorithm, iterations, salt, self.password.as_bytes(), &mut out);
        out
    }

    fn hmac(&self, key: &[u8], data: &[u8]) -> Vec<u8> {
        let algorithm = if self.sha512 { hmac::HMAC_SHA512 } else { hmac::HMAC_SHA256 };
        hmac::sign(&hmac::Key::new(algorithm, key), data).as_ref().to_vec()
    }

    fn digest(&self, data: &[u8]) -> Vec<u8> {
        digest::digest(if self.sha512 { &digest::SHA512 } else { &digest::SHA256 }, data).as_ref().to_vec()
    }
}

/// The value of `name=` among those with commas between.
fn field(said: &str, name: char) -> Option<&str> {
    said.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3.
    #[test]
    fn the_example_of_the_standard() {
        let (mut scram, first) =
            Scram::with_nonce(false, "user", "pencil", "rOprNGfwEbeRWgbNEkqO".to_owned());
        assert_eq!(first, b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let said = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let answer = scram.hear(said.as_bytes()).expect("good").expect("words");
        assert_eq!(
            String::from_utf8_lossy(&answer),
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        let last = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";
        assert_eq!(scram.hear(last), Ok(None));
        assert!(scram.hear(last).is_err());
    }

    #[test]
    fn what_is_refused() {
        let begun = || Scram::with_nonce(true, "a=b,c", "p", "N".to_owned());
        assert_eq!(begun().1, b"n,,n=a=3Db=2Cc,r=N");
        for said in
            ["", "r=M1,s=AAAA,i=4096", "r=N,s=AAAA,i=4096", "r=N1,s=AAAA,i=1", "r=N1,s=?,i=4096", "e=no"]
        {
            assert!(begun().0.hear(said.as_bytes()).is_err(), "{said}");
        }
        let mut scram = begun().0;
        scram.hear(b"r=N1,s=AAAA,i=4096").expect("good");
        assert!(scram.hear(b"v=AAAA").is_err_and(|e| e.contains("password")));
    }
}
