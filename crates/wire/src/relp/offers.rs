//! What the two sides tell each other when a session begins: `name=value` lines.

/// What this side calls itself.
pub const SOFTWARE: &str = "penstock";
/// Versions of the protocol that are the same as far as messages go.
const VERSIONS: [u32; 2] = [0, 1];

/// The offers of the other side. Those nobody knows are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// `None` when it is no number.
    pub version: Option<u32>,
    pub software: String,
    pub commands: Vec<String>,
}

impl Offers {
    pub fn parse(data: &[u8]) -> Offers {
        let mut offers = Offers::default();
        for line in data.split(|b| *b == b'\n') {
            let text = String::from_utf8_lossy(line);
            let (name, value) = text.split_once('=').unwrap_or((&text, ""));
            match name {
                "relp_version" => offers.version = value.parse().ok(),
                "relp_software" => value.clone_into(&mut offers.software),
                "commands" => offers.commands = value.split(',').map(str::to_owned).collect(),
                _ => {}
            }
        }
        offers
    }

    /// Whether messages can be sent this way; the error says why not.
    pub fn check(&self) -> Result<(), String> {
        match self.version {
            None => return Err("the peer names no version of RELP".to_owned()),
            Some(version) if !VERSIONS.contains(&version) => {
                return Err(format!("the peer speaks version {version} of RELP"));
            }
            Some(_) => {}
        }
        if !self.commands.iter().any(|command| command == "syslog") {
            return Err("the peer does not offer the command `syslog`".to_owned());
        }
        Ok(())
    }
}

/// The offers of this side.
pub fn own() -> Vec<u8> {
    format!("relp_version=0\nrelp_software={SOFTWARE}\ncommands=syslog").into_bytes()
}
