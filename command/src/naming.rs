//! Names of inputs in messages, documents and baselines. They contain no secrets, and the same file always has the same
//! name.

/// Options that run a package or a module, and do not identify a server.
const RUNNING: [&str; 3] = ["-y", "--yes", "-m"];
const CUT: &str = "…";

/// Returns a URL without the parts that may be secret: user, query and fragment.
pub(crate) fn name_of_address(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// Returns a command up to its first option, which may be followed by a secret.
pub(crate) fn name_of_command(command: &[String]) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in command {
        if word.starts_with('-') && !RUNNING.contains(&word.as_str()) {
            words.push(CUT.into());
            break;
        }
        words.push(match word.split_once('=') {
            _ if word.contains("://") => name_of_address(word),
            Some((name, _)) => format!("{name}={CUT}"),
            None => word.clone(),
        });
    }
    words.join(" ")
}

/// Normalizes a path: removes `.`, and `..` after a named directory.
pub(crate) fn normal(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match (step, steps.last()) {
            (".", _) => {}
            ("", Some(_)) => {}
            ("..", Some(last)) if !matches!(*last, "" | "..") => {
                steps.pop();
            }
            (step, _) => steps.push(step),
        }
    }
    match steps.as_slice() {
        [""] => "/".into(),
        steps => steps.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::{name_of_address, name_of_command, normal};

    #[test]
    fn names_contain_no_secrets() {
        let named = |words: &[&str]| name_of_command(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(named(&["npx", "-y", "some-server"]), "npx -y some-server");
        assert_eq!(named(&["python", "-m", "server", "--token", "X", "more"]), "python -m server …");
        assert_eq!(named(&["env", "TOKEN=X", "server"]), "env TOKEN=… server");
        assert_eq!(named(&["server", "postgres://me:X@host/base?key=X"]), "server postgres://host/base");
        assert_eq!(name_of_address("https://me:X@host:1/a/b?key=X#X"), "https://host:1/a/b");
        assert_eq!(name_of_address("https://host?key=a/X@b"), "https://host");
    }

    #[test]
    fn paths_are_normalized() {
        for (path, name) in [
            ("./a.json", "a.json"),
            ("b/../a.json", "a.json"),
            ("b\\..\\a.json", "b\\..\\a.json"),
            ("../a.json", "../a.json"),
            ("../../a.json", "../../a.json"),
            ("/b/..//a.json", "/a.json"),
            ("/../a.json", "/../a.json"),
        ] {
            assert_eq!(normal(path), name);
        }
    }
}
