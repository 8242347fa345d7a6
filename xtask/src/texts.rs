//! The man page and the completions of the program, made from its options.

use std::{error::Error, fs, path::Path};

use clap_complete::{generate_to, Shell};
use clap_mangen::Man;
use toolwire_command::Command;

/// Writes `man/` and `completions/` into a folder.
pub(crate) fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let options = Command::options();
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    let mut pages = Vec::from([("toolwire".to_string(), options.clone())]);
    for command in options.get_subcommands() {
        let name = format!("toolwire-{}", command.get_name());
        pages.push((name.clone(), command.clone().name(name).version(env!("CARGO_PKG_VERSION"))));
    }
    for (name, command) in pages {
        let mut text = Vec::new();
        Man::new(command).render(&mut text)?;
        fs::write(man.join(format!("{name}.1")), text)?;
    }
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
