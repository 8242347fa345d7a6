//! Files: reading, and writing so that a full disk or the end of the program loses nothing.

use std::{
    collections::HashMap,
    fs::{self, File, Metadata, OpenOptions},
    hash::{BuildHasher as _, RandomState},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use toolwire_command::OutputFile;

use crate::system::code;

/// Maximum size of a file, in bytes.
const MAX_FILE: u64 = (1 << 31) - 1;

/// Errors of replacing a file that may still be writable in place: its folder is not writable, or the file is a mount
/// point in a container.
const REPLACE_ERRORS: [&str; 3] = ["EACCES", "EBUSY", "EPERM"];

/// The files that a command read. A file with a different content is not overwritten.
#[derive(Default)]
pub(crate) struct Files {
    /// Has secret random keys, so an attacker cannot prepare a file with an equal digest.
    hasher: RandomState,
    /// Digests by path, with symbolic links resolved.
    digests: HashMap<PathBuf, u64>,
}

enum WriteError {
    Changed,
    Irreplaceable(String),
    Failed(String),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        WriteError::Failed(code(&error))
    }
}

impl Files {
    /// Reads a file, which may be a device.
    pub(crate) fn read(&mut self, path: &str) -> Result<Vec<u8>, String> {
        let content = fs::read(path).map_err(|error| code(&error))?;
        self.record(Path::new(path), &content);
        Ok(content)
    }

    pub(crate) fn read_regular(&mut self, path: &str) -> Result<Vec<u8>, String> {
        let content = read_regular_file(Path::new(path))?;
        self.record(Path::new(path), &content);
        Ok(content)
    }

    fn record(&mut self, path: &Path, content: &[u8]) {
        self.digests.insert(resolve_links(path), self.hasher.hash_one(content));
    }

    /// Writes files. Returns messages about files that could not be written. If a backup cannot be written, its
    /// original is not changed.
    pub(crate) fn write_all(&mut self, files: &[OutputFile]) -> Vec<String> {
        let is_input =
            |file: &&OutputFile| file.keeps_inputs && self.digests.contains_key(&resolve_links(Path::new(&file.path)));
        if let Some(file) = files.iter().find(is_input) {
            let path = toolwire_command::Command::escape_log(&file.path);
            return Vec::from([format!("toolwire: {}: expected a new file, found an input\n", path.trim_end())]);
        }
        let mut messages = Vec::new();
        let mut without_backup: Vec<&str> = Vec::new();
        for file in files {
            if without_backup.contains(&file.path.as_str()) {
                continue;
            }
            let why = match self.write(file) {
                Ok(()) => continue,
                Err(WriteError::Changed) => {
                    "expected an unchanged file, found one that has changed since it was read".to_string()
                }
                Err(WriteError::Irreplaceable(why)) => {
                    format!("expected a file that can be replaced, found one that cannot ({why})")
                }
                Err(WriteError::Failed(why)) => format!("expected a writable file, found one that is not ({why})"),
            };
            if file.like != file.path {
                without_backup.push(&file.like);
            }
            messages
                .push(format!("toolwire: {}: {why}\n", toolwire_command::Command::escape_log(&file.path).trim_end()));
        }
        messages
    }

    fn write(&mut self, file: &OutputFile) -> Result<(), WriteError> {
        let path = Path::new(&file.path);
        refuse_links(&file.path, &file.confined)?;
        if file.like.is_empty() && is_in_place(path)? {
            return Ok(overwrite(path, file)?);
        }
        let target = if file.confined.is_empty() { resolve_links(path) } else { path.into() };
        match self.replace(&target, file) {
            Err(WriteError::Failed(why)) if REPLACE_ERRORS.contains(&why.as_str()) => {
                if file.like.is_empty() {
                    Ok(overwrite(path, file)?)
                } else {
                    Err(WriteError::Irreplaceable(why))
                }
            }
            done => done,
        }
    }

    /// Writes a temporary file next to the target, which is no link, and renames it. If the program is killed or the
    /// disk is full, the target is unchanged.
    fn replace(&mut self, target: &Path, file: &OutputFile) -> Result<(), WriteError> {
        let like =
            if file.like.is_empty() { if_exists(fs::metadata(target))? } else { Some(fs::metadata(&file.like)?) };
        let mut name = target.as_os_str().to_owned();
        name.push(format!(".{:016x}.tmp", self.hasher.hash_one((target, std::process::id(), self.digests.len()))));
        let temporary = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if like.is_some() {
            owner_only(&mut options);
        }
        // Opened before the closure, so that another program's file with this name is not removed.
        let opened = options.open(&temporary)?;
        let replace = || {
            write_content(opened, file.content.as_bytes(), like.as_ref())?;
            // Checked as late as possible, because nothing locks the file.
            let is_changed = |content: Vec<u8>| {
                Some(&self.hasher.hash_one(&*content)) != self.digests.get(&resolve_links(Path::new(&file.like)))
            };
            if !file.like.is_empty()
                && is_changed(read_regular_file(Path::new(&file.like)).map_err(WriteError::Failed)?)
            {
                return Err(WriteError::Changed);
            }
            Ok(fs::rename(&temporary, target)?)
        };
        if let Err(error) = replace() {
            // The first error is the reason.
            let _ = fs::remove_file(&temporary);
            return Err(error);
        }
        self.record(target, file.content.as_bytes());
        Ok(())
    }
}

fn overwrite(path: &Path, file: &OutputFile) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    if !file.confined.is_empty() {
        no_follow(&mut options);
    }
    options.open(path)?.write_all(file.content.as_bytes())
}

fn write_content(mut file: File, content: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    file.write_all(content)?;
    if let Some(like) = like {
        // Sets the owner of the open file, because its name could have become a link to another file.
        set_owner(&file, like)?;
        file.set_permissions(permissions(like))?;
    }
    // Without this, the renamed file could reach the disk before its content.
    file.sync_all()
}

/// Reads the file up to the length that it had when it was opened. Fails for anything without a length, such as a
/// device or a pipe. Files in `/proc` report the length 0, so they are read as empty.
fn read_regular_file(path: &Path) -> Result<Vec<u8>, String> {
    let mut options = OpenOptions::new();
    options.read(true);
    no_wait(&mut options);
    let read = || -> io::Result<Result<Vec<u8>, &str>> {
        let file = options.open(path)?;
        let metadata = file.metadata()?;
        let why = match () {
            () if metadata.is_dir() => "EISDIR",
            () if !metadata.is_file() => "ENOTREG",
            () if metadata.len() > MAX_FILE => "EFBIG",
            () => {
                let mut content = Vec::new();
                file.take(metadata.len()).read_to_end(&mut content)?;
                return Ok(Ok(content));
            }
        };
        Ok(Err(why))
    };
    read().map_err(|error| code(&error))?.map_err(String::from)
}

/// Lists a folder. Names of folders end in `/`, names of links to folders in `//`.
pub(crate) fn list(folder: &str) -> Result<Vec<String>, String> {
    let folder = if folder.is_empty() { "." } else { folder };
    let entry_name = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name().to_string_lossy().into_owned());
        let is_folder = || fs::metadata(entry.path()).is_ok_and(|found| found.is_dir());
        Ok(match kind {
            kind if kind.is_dir() => name + "/",
            kind if kind.is_symlink() && is_folder() => name + "//",
            _ => name,
        })
    };
    let read = || fs::read_dir(folder)?.map(entry_name).collect::<io::Result<Vec<String>>>();
    read().map_err(|error| code(&error))
}

fn if_exists(result: io::Result<Metadata>) -> io::Result<Option<Metadata>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Resolves symbolic links. Returns the path unchanged if the file does not exist.
fn resolve_links(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.into())
}

/// Returns true for files that are written in place: a device, a pipe, or a link without a target. A rename would
/// remove such a link.
fn is_in_place(path: &Path) -> io::Result<bool> {
    match if_exists(fs::metadata(path))? {
        Some(target) => Ok(!target.is_file()),
        None => Ok(if_exists(fs::symlink_metadata(path))?.is_some()),
    }
}

/// Fails if the suffix `confined` of a path contains a symbolic link or a junction.
fn refuse_links(path: &str, confined: &str) -> Result<(), WriteError> {
    if confined.is_empty() {
        return Ok(());
    }
    let mut at = String::from(path.strip_suffix(confined).unwrap_or_default());
    for step in confined.split('/') {
        at.push_str(step);
        match if_exists(fs::symlink_metadata(&at))? {
            None => return Ok(()),
            Some(found) if found.is_symlink() => return Err(WriteError::Failed("ELOOP".into())),
            Some(_) => at.push('/'),
        }
    }
    Ok(())
}

#[cfg(unix)]
mod flags {
    use std::{
        fs::{File, Metadata, OpenOptions, Permissions},
        io,
        os::unix::fs::{fchown, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    };

    use rustix::fs::OFlags;

    fn set(options: &mut OpenOptions, flags: OFlags) {
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }

    /// Opens no link, and does not wait at a pipe without a reader.
    pub(crate) fn no_follow(options: &mut OpenOptions) {
        set(options, OFlags::NOFOLLOW | OFlags::NONBLOCK);
    }

    /// Does not wait at a pipe without a writer.
    pub(super) fn no_wait(options: &mut OpenOptions) {
        set(options, OFlags::NONBLOCK);
    }

    pub(super) fn owner_only(options: &mut OpenOptions) {
        options.mode(0o600);
    }

    /// Sets the owner of a file. Fails with EPERM if the user may not change the owner.
    pub(super) fn set_owner(file: &File, like: &Metadata) -> io::Result<()> {
        let found = file.metadata()?;
        if (found.uid(), found.gid()) == (like.uid(), like.gid()) {
            return Ok(());
        }
        fchown(file, Some(like.uid()), Some(like.gid()))
    }

    pub(super) fn permissions(like: &Metadata) -> Permissions {
        Permissions::from_mode(like.permissions().mode() & 0o777)
    }
}

#[cfg(not(unix))]
mod flags {
    use std::{
        fs::{File, Metadata, OpenOptions, Permissions},
        io,
    };

    pub(crate) fn no_follow(_options: &mut OpenOptions) {}

    pub(super) fn no_wait(_options: &mut OpenOptions) {}

    pub(super) fn owner_only(_options: &mut OpenOptions) {}

    pub(super) fn set_owner(_file: &File, _like: &Metadata) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn permissions(like: &Metadata) -> Permissions {
        like.permissions()
    }
}

pub(crate) use flags::no_follow;
use flags::{no_wait, owner_only, permissions, set_owner};
