//! What errors of the cluster mean for a batch.

use flight::Outcome;
use hdfs_native::HdfsError;

/// Why something did not come about.
#[derive(Debug)]
pub enum Trouble {
    /// No answer within the time there is.
    Late,
    Said(HdfsError),
}

/// Classes of Java that only somebody at the cluster, or at the configuration, can do something about.
const HELD: [&str; 9] = [
    "AccessControlException",
    "AuthorizationException",
    "SaslException",
    "GSSException",
    "SecretManager$InvalidToken",
    "DSQuotaExceededException",
    "NSQuotaExceededException",
    "ParentNotDirectoryException",
    "LeaseExpiredException",
];

/// Classes of names that no file can have.
const NAMES: [&str; 3] =
    ["InvalidPathException", "PathComponentTooLongException", "InvalidPathNameException"];

impl Trouble {
    pub fn outcome(&self) -> Outcome {
        let words = self.words();
        match self {
            Trouble::Late => Outcome::Away(words),
            Trouble::Said(error) => match error {
                HdfsError::RPCError(class, text) | HdfsError::FatalRPCError(class, text) => {
                    of_class(class, text, words)
                }
                HdfsError::InvalidPath(_) => Outcome::Refused(words),
                HdfsError::SASLError(_)
                | HdfsError::GSSAPIError(..)
                | HdfsError::NoSASLMechanism
                | HdfsError::InvalidArgument(_)
                | HdfsError::UrlParseError(_)
                | HdfsError::XmlParseError(_)
                | HdfsError::IsADirectoryError(_)
                | HdfsError::UnsupportedErasureCodingPolicy(_)
                | HdfsError::UnsupportedFeature(_) => Outcome::Hold(words),
                _ => Outcome::Away(words),
            },
        }
    }

    /// The first line of what the cluster says: behind it stands where in its program that was.
    pub fn words(&self) -> String {
        match self {
            Trouble::Late => "the cluster does not answer".to_owned(),
            Trouble::Said(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
        }
    }

    /// Somebody has the file open, or had until it was cut off.
    pub fn is_leased(&self) -> bool {
        match self {
            Trouble::Said(HdfsError::AlreadyExists(_)) => true,
            Trouble::Said(HdfsError::RPCError(class, _)) => class.ends_with("RecoveryInProgressException"),
            _ => false,
        }
    }

    pub fn is_taken(&self) -> bool {
        matches!(self, Trouble::Said(HdfsError::AlreadyExists(_)))
    }

    pub fn is_missing(&self) -> bool {
        match self {
            Trouble::Said(HdfsError::FileNotFound(_)) => true,
            Trouble::Said(HdfsError::RPCError(class, _)) => class.ends_with("FileNotFoundException"),
            _ => false,
        }
    }
}

fn of_class(class: &str, text: &str, words: String) -> Outcome {
    let is = |names: &[&str]| names.iter().any(|name| class.ends_with(name));
    let is_name = class.ends_with("HadoopIllegalArgumentException") || text.contains("Invalid path name");
    if is(&HELD) {
        Outcome::Hold(words)
    } else if is(&NAMES) || is_name {
        Outcome::Refused(words)
    } else {
        Outcome::Away(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_errors() {
        let said = |class: &str, text: &str| {
            Trouble::Said(HdfsError::RPCError(class.to_owned(), format!("{text}\n\tat java"))).outcome()
        };
        assert!(matches!(
            said("org.apache.hadoop.security.AccessControlException", "Permission denied"),
            Outcome::Hold(why) if !why.contains("at java")
        ));
        assert!(matches!(
            said("org.apache.hadoop.fs.InvalidPathException", "Invalid path name"),
            Outcome::Refused(_)
        ));
        assert!(matches!(
            said("org.apache.hadoop.hdfs.server.namenode.SafeModeException", "Cannot create"),
            Outcome::Away(_)
        ));
        assert!(matches!(Trouble::Late.outcome(), Outcome::Away(_)));
    }
}
