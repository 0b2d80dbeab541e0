//! Profiles of Amazon's tools: files of sections with names and values.

use crate::account::Account;
use std::path::PathBuf;

/// What a profile says of accounts.
#[derive(Debug, Default)]
pub struct Profile {
    pub account: Option<Account>,
    /// The role that the account is to take, and the profile whose account it is then.
    pub role: Option<String>,
    pub source: Option<String>,
    pub region: Option<String>,
}

/// Files longer than that are none.
const FILE_BYTES_MAX: u64 = 1 << 20;

impl Profile {
    /// Out of `~/.aws/credentials` and `~/.aws/config`, or where `AWS_SHARED_CREDENTIALS_FILE` and
    /// `AWS_CONFIG_FILE` say. The error says why it cannot be read; `None`: there is no such profile.
    pub fn read(name: &str) -> Result<Option<Profile>, String> {
        let credentials = text(file("AWS_SHARED_CREDENTIALS_FILE", "credentials"))?;
        let config = text(file("AWS_CONFIG_FILE", "config"))?;
        let in_config = if name == "default" { name.to_owned() } else { format!("profile {name}") };
        let all = [section(&config, &in_config), section(&credentials, name)];
        Ok(all.iter().any(Option::is_some).then(|| Profile::of(all.into_iter().flatten().flatten())))
    }

    /// Later values count.
    fn of<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> Profile {
        let mut profile = Profile::default();
        let [mut access_key, mut secret_key, mut token] = [const { String::new() }; 3];
        for (name, value) in values {
            let value = value.to_owned();
            match name {
                "aws_access_key_id" => access_key = value,
                "aws_secret_access_key" => secret_key = value,
                "aws_session_token" => token = value,
                "role_arn" => profile.role = Some(value),
                "source_profile" => profile.source = Some(value),
                "region" => profile.region = Some(value),
                _ => {}
            }
        }
        profile.account = Account::new(access_key, secret_key, Some(token));
        profile
    }
}

fn file(variable: &str, name: &str) -> Option<PathBuf> {
    let asked = std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    asked.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".aws").join(name)))
}

/// A file that is not there says nothing.
fn text(path: Option<PathBuf>) -> Result<String, String> {
    let Some(path) = path.filter(|path| path.exists()) else { return Ok(String::new()) };
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = regular::read(&path, FILE_BYTES_MAX).map_err(|error| wrong(&error))?;
    String::from_utf8(bytes).map_err(|error| wrong(&error))
}

/// The names and values of a section; `None` when there is no such section. What is indented belongs to the
/// name before it and is passed over.
fn section<'a>(text: &'a str, name: &str) -> Option<Vec<(&'a str, &'a str)>> {
    let mut found: Option<Vec<_>> = None;
    let mut is_inside = false;
    for line in text.lines() {
        let words = line.trim();
        if words.is_empty() || words.starts_with(['#', ';']) || line.starts_with([' ', '\t']) {
            continue;
        }
        if let Some(inner) = words.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            is_inside = inner.split_whitespace().eq(name.split_whitespace());
            if is_inside {
                found.get_or_insert_default();
            }
        } else if let (Some(found), true, Some((name, value))) =
            (&mut found, is_inside, words.split_once('='))
        {
            found.push((name.trim(), value.trim()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# accounts\n[default]\naws_access_key_id = A\naws_secret_access_key=S=\ns3 =\n  max = 3\n\n\
                        [profile  logs]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = default\nregion=eu-west-1\n";

    #[test]
    fn sections() {
        let of = |name: &str| section(TEXT, name).map(|values| Profile::of(values.into_iter()));
        let account = of("default").and_then(|profile| profile.account).expect("an account");
        assert_eq!((account.access_key.as_str(), account.secret_key.as_str()), ("A", "S="));
        let logs = of("profile logs").expect("a profile");
        assert_eq!(
            (logs.role.as_deref(), logs.source.as_deref()),
            (Some("arn:aws:iam::1:role/x"), Some("default"))
        );
        assert_eq!((logs.region.as_deref(), logs.account.is_none()), (Some("eu-west-1"), true));
        assert!(of("logs").is_none() && of("").is_none());
    }
}
