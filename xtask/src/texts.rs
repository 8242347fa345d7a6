//! The man page and the completions of the program, made from its options.

use std::{error::Error, fs, path::Path};

use clap_complete::{generate_to, Shell};
use toolwire_command::Command;

pub(crate) fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let options = Command::options();
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(options.clone(), &man)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
        generate_to(shell, &mut options.clone(), "toolwire", &completions)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_and_is_completed() {
        let folder = std::env::temp_dir().join(format!("toolwire-texts-{}", std::process::id()));
        write(&folder).expect("the folder can be written");
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let names = ["bash", "fish"].map(|end| read(&format!("completions/toolwire.{end}")));
        for command in Command::options().get_subcommands() {
            let name = command.get_name();
            let page = read(&format!("man/toolwire-{name}.1"));
            assert!(page.contains(".SH DESCRIPTION") || page.contains(".SH SYNOPSIS"), "{name}: {page}");
            assert!(names.iter().all(|text| text.contains(name)), "{name} is not completed");
        }
        assert!(read("completions/_toolwire").starts_with("#compdef toolwire"));
        fs::remove_dir_all(&folder).expect("the folder can be removed");
    }
}
