//! Programs on Windows, which are often scripts (`npx.cmd`). The system itself finds only names that end in `.exe`.

use std::path::{Path, PathBuf};

/// Extensions of programs, unless the variable PATHEXT names others.
const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// Returns the file of the program that a server's command names. The standard library starts `.bat` and `.cmd` files
/// with `cmd.exe`, and escapes their arguments.
pub(crate) fn program(name: &str, folder: Option<&str>, variables: &[(String, String)]) -> Option<PathBuf> {
    let variable = |wanted: &str| {
        let mut found = variables.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.next().map(|(_, value)| value.clone()).or_else(|| std::env::var(wanted).ok())
    };
    let extensions = variable("PATHEXT").filter(|list| !list.is_empty()).unwrap_or_else(|| EXTENSIONS.into());
    let here = folder.map_or_else(PathBuf::new, PathBuf::from);
    let folders: Vec<PathBuf> = if name.contains(['/', '\\']) {
        Vec::from([here])
    } else {
        std::env::split_paths(&variable("PATH")?).filter(|folder| folder.is_absolute()).collect()
    };
    folders.iter().find_map(|folder| in_folder(folder, name, &extensions))
}

/// Returns the file with this name, or with this name and the first possible extension.
fn in_folder(folder: &Path, name: &str, extensions: &str) -> Option<PathBuf> {
    let mut listed = extensions.split(';').map(str::trim).filter(|extension| extension.starts_with('.'));
    let has_extension = |extension: &str| {
        let end = name.len().checked_sub(extension.len()).and_then(|at| name.get(at..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(extension))
    };
    if listed.clone().any(has_extension) {
        return Some(folder.join(name)).filter(|path| path.is_file());
    }
    // `npx` without an extension is a script of Unix, which npm installs next to `npx.cmd`.
    listed.find_map(|extension| Some(folder.join(format!("{name}{extension}"))).filter(|path| path.is_file()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_script_is_found_by_its_name_without_an_extension() {
        let base = std::env::temp_dir().join(format!("toolwire-lookup-{}", std::process::id()));
        let (one, two) = (base.join("one"), base.join("two"));
        for path in
            [one.join("npx"), one.join("npx.CMD"), two.join("npx.EXE"), two.join("uvx.EXE"), two.join("a.b.CMD")]
        {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, "").expect("a file");
        }
        let path = std::env::join_paths([Path::new("relative"), &one, &two]).expect("a path");
        let path = path.into_string().expect("text");
        let find = |name: &str, extensions: &str| {
            let variables = [("Path".to_string(), path.clone()), ("PATHEXT".to_string(), extensions.to_string())];
            program(name, Some(base.to_str().expect("text")), &variables)
        };
        assert_eq!(find("npx", ""), Some(one.join("npx.CMD")));
        assert_eq!(find("npx", ".EXE"), Some(two.join("npx.EXE")));
        assert_eq!(find("npx.CMD", ".EXE;.CMD"), Some(one.join("npx.CMD")));
        assert_eq!(find("uvx", ""), Some(two.join("uvx.EXE")));
        assert_eq!(find("a.b", ""), Some(two.join("a.b.CMD")));
        assert_eq!(find("one/npx", ""), Some(base.join("one/npx.CMD")));
        assert_eq!(find("none", ""), None);
        std::fs::remove_dir_all(base).expect("a folder");
    }
}
