//! What the program knows of its own command line, said in the ways of others: manual pages, and completions
//! of shells.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;
use control::cli::{Cli, ctl_command_line, ledger_command_line};

use crate::printing::print;
use crate::{EXIT_CONFIG, pdb, queue, sealed, state_file};

/// Manual pages of programs that administrators run.
const SECTION: &str = "8";

/// The whole command line: commands that read their own arguments have theirs in it.
fn whole() -> clap::Command {
    let own = [
        ("ctl", ctl_command_line()),
        ("ledger", ledger_command_line()),
        ("loggen", loggen::cli::command_line()),
        ("pdb", pdb::command_line()),
        ("queue", queue::command_line()),
        ("dqtool", queue::dqtool::command_line()),
        ("slogkey", sealed::slogkey::command_line()),
        ("slogencrypt", sealed::slogencrypt::command_line()),
        ("slogverify", sealed::slogverify::command_line()),
        ("state", state_file::command_line()),
        #[cfg(feature = "logstore")]
        ("logstore", crate::logstore::command_line()),
        ("bench", bench::cli::command_line()),
    ];
    let whole = Cli::command();
    own.into_iter().fold(whole, |whole, (name, own)| {
        whole.mut_subcommand(name, |short| {
            // What the list of commands says stays.
            let about = short.get_about().cloned();
            let own = own.name(name).disable_help_flag(false);
            if let Some(about) = about { own.about(about) } else { own }
        })
    })
}

/// `penstock completions SHELL`.
pub fn completions(shell: &str) -> ExitCode {
    let Ok(shell) = shell.parse::<Shell>() else {
        stdio::err!("there are no completions for {shell}");
        return ExitCode::from(EXIT_CONFIG);
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut whole(), "penstock", &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// `penstock man`: the first page, or all of them into a folder.
pub fn man(folder: Option<&Path>) -> ExitCode {
    let pages = match pages() {
        Ok(pages) => pages,
        Err(error) => {
            stdio::err!("cannot make the manual pages: {error}");
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    let Some(folder) = folder else {
        return print(pages.first().map_or("", |(_, text)| text.as_str()));
    };
    for (name, text) in pages {
        let path = folder.join(name);
        if let Err(error) = std::fs::write(&path, text) {
            stdio::err!("cannot write {}: {error}", path.display());
            return ExitCode::from(EXIT_CONFIG);
        }
    }
    ExitCode::SUCCESS
}

/// File name and text of each page, that of the program itself first.
fn pages() -> io::Result<Vec<(String, String)>> {
    let mut whole = whole().disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    let mut left = vec![("penstock".to_owned(), whole)];
    while let Some((name, command)) = left.pop() {
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            left.push((format!("{name}-{}", below.get_name()), below.clone()));
        }
        let mut text = Vec::new();
        clap_mangen::Man::new(command).title(name.clone()).section(SECTION).render(&mut text)?;
        pages.push((format!("{name}.{SECTION}"), String::from_utf8_lossy(&text).into_owned()));
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_options_in_completions_and_pages() {
        let pages = pages().expect("pages");
        assert_eq!(pages[0].0, "penstock.8");
        let page = |name: &str| {
            let found = pages.iter().find(|(file, _)| file == name);
            found.map(|(_, text)| text.replace("\\-", "-")).unwrap_or_else(|| panic!("no page {name}"))
        };
        for (name, option) in [
            ("penstock-run.8", "--take-over"),
            ("penstock-ctl-reload.8", "--health-time"),
            ("penstock-ledger.8", "--last-run"),
            ("penstock-queue-drop.8", "--older"),
            #[cfg(feature = "logstore")]
            ("penstock-logstore-validate.8", "--require-ts"),
            ("penstock-loggen.8", "--active-connections"),
        ] {
            assert!(page(name).contains(option), "{name} has no {option}");
        }
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let mut text = Vec::new();
            let shell: Shell = shell.parse().expect("a shell");
            clap_complete::generate(shell, &mut whole(), "penstock", &mut text);
            let text = String::from_utf8(text).expect("UTF-8");
            for word in ["take-over", "health-time", "active-connections"] {
                assert!(text.contains(word), "{shell}: {word}");
            }
        }
    }
}
