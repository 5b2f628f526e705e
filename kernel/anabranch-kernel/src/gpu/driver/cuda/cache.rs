//! Compiled kernels, kept in files from one process to the next.
//!
//! A file has a *key*, the text of the kernel with the options and the version of NVRTC, so an image is not mistaken
//! for another image. A file that was not written whole, or has changed since, does not match its checksum. A failure
//! here is not an error of the operation, which then compiles the kernel.

use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The most files of a folder. A full one is emptied.
const MOST_FILES: usize = 4096;

/// The folder of the files, if there is one.
pub(super) struct Cache {
    folder: Option<PathBuf>,
    most_files: usize,
}

impl Cache {
    /// Returns the cache of the user. It keeps nothing if the environment names no folder or disables the caches of
    /// CUDA.
    pub(super) fn of_user() -> Self {
        Self { folder: folder(|name| env::var_os(name)), most_files: MOST_FILES }
    }

    #[cfg(test)]
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder), most_files: 8 }
    }

    /// Returns the image with a key.
    pub(super) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let file = fs::read(self.folder.as_ref()?.join(name(key))).ok()?;
        image_of(file, key)
    }

    /// Keeps an image. Without it, the next process compiles again.
    pub(super) fn keep(&self, key: &str, image: &[u8]) {
        if let Some(folder) = &self.folder {
            let _ = keep_in(folder, self.most_files, key, image);
        }
    }
}

/// Returns the folder of the user, by the variables of the environment.
fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if variable("CUDA_CACHE_DISABLE").is_some_and(|value| value == "1") {
        return None;
    }
    // A relative path would be another folder in each working directory.
    let path = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let of_all = match cfg!(windows) {
        true => path("LOCALAPPDATA"),
        false => path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache"))),
    };
    of_all.map(|path| path.join("anabranch-kernel"))
}

/// Writes a file. Others see all of it or nothing.
fn keep_in(folder: &Path, most_files: usize, key: &str, image: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    create(folder)?;
    let files: Vec<_> = fs::read_dir(folder)?.flatten().collect();
    if files.len() >= most_files {
        files.iter().for_each(|file| drop(fs::remove_file(file.path())));
    }
    let path = folder.join(name(key));
    let unfinished = path.with_extension(format!("{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&unfinished)?;
    let written = file.write_all(&file_of(key, image));
    drop(file);
    written.and_then(|()| fs::rename(&unfinished, path)).inspect_err(|_| {
        let _ = fs::remove_file(&unfinished);
    })
}

/// Creates a folder, for the user alone.
fn create(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Returns the name of the file with a key.
fn name(key: &str) -> String {
    format!("{:016x}", hash(&[key.as_bytes()]))
}

/// Returns the bytes of a file: the checksum, the length of the key, the key, the image.
fn file_of(key: &str, image: &[u8]) -> Vec<u8> {
    let len = (key.len() as u64).to_le_bytes();
    let sum = hash(&[&len, key.as_bytes(), image]).to_le_bytes();
    [&sum, &len, key.as_bytes(), image].concat()
}

/// Returns the image in a file, if it is whole and has this key.
fn image_of(mut file: Vec<u8>, key: &str) -> Option<Vec<u8>> {
    let begin = 16 + key.len();
    let image = file.get(begin..)?;
    if file[..begin] != file_of(key, image)[..begin] {
        return None;
    }
    file.drain(..begin);
    Some(file)
}

fn hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.iter().for_each(|part| hasher.write(part));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn cache_in(folder: &Path) -> Cache {
        Cache::in_folder(folder.join("new"))
    }

    /// Returns the paths of all files.
    fn files(cache: &Cache) -> Vec<PathBuf> {
        let entries = fs::read_dir(cache.folder.as_ref().unwrap()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn an_image_is_found_by_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        let images = [("one", &b"first"[..]), ("two", b"second"), ("", b"no key"), ("empty", b"")];
        for (key, image) in images {
            assert_eq!(cache.get(key), None);
            cache.keep(key, image);
        }
        for (key, image) in images {
            assert_eq!(cache.get(key).as_deref(), Some(image));
        }
        assert_eq!(files(&cache).len(), 4);
        cache.keep("one", b"other");
        assert_eq!(cache.get("one").as_deref(), Some(&b"other"[..]));
        assert_eq!(files(&cache).len(), 4);
    }

    #[test]
    fn a_file_that_is_cut_or_changed_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        cache.keep("key", b"image");
        let path = &files(&cache)[0];
        let whole = fs::read(path).unwrap();
        let cut = (0..whole.len()).map(|len| whole[..len].to_vec());
        let changed = (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))).map(|(at, bit)| {
            let mut file = whole.clone();
            file[at] ^= 1 << bit;
            file
        });
        for file in cut.chain(changed).chain([[&whole[..], b"!"].concat()]) {
            fs::write(path, &file).unwrap();
            assert_eq!(cache.get("key"), None, "{file:?}");
        }
        cache.keep("key", b"image");
        assert_eq!(fs::read(path).unwrap(), whole);
    }

    #[test]
    fn a_file_of_another_key_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        cache.keep("key", b"image");
        // As if both keys had one hash. Some begin like the other one.
        for (key, image) in [("kez", &b"image"[..]), ("keyi", b"mage"), ("ke", b"yimage"), ("", b"keyimage")] {
            fs::write(&files(&cache)[0], file_of(key, image)).unwrap();
            assert_eq!(cache.get("key"), None, "{key}");
        }
    }

    #[test]
    fn without_a_folder_nothing_is_kept_and_nothing_fails() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "no folder").unwrap();
        for cache in [cache_in(&file), Cache { folder: None, most_files: 8 }] {
            cache.keep("key", b"image");
            assert_eq!(cache.get("key"), None);
        }
    }

    #[test]
    fn no_unfinished_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        cache.keep("key", b"image");
        let path = files(&cache).remove(0);
        fs::remove_file(&path).unwrap();
        // A folder has the name of the file.
        fs::create_dir(&path).unwrap();
        cache.keep("key", b"image");
        assert_eq!(cache.get("key"), None);
        assert_eq!(files(&cache), [path]);
    }

    #[test]
    fn a_full_folder_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        let most = cache.most_files;
        for number in 0..=most {
            assert_eq!(cache.get(&number.to_string()), None);
            cache.keep(&number.to_string(), b"image");
        }
        assert!(cache.get("0").is_none() && cache.get(&most.to_string()).is_some());
        assert_eq!(files(&cache).len(), 1);
    }

    #[test]
    fn threads_see_whole_files_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        cache.keep("key", &[0; 1_000_000]);
        let path = &files(&cache)[0];
        let len = fs::read(path).unwrap().len();
        thread::scope(|scope| {
            let write = |byte| (0..30).for_each(|_| cache.keep("key", &[byte; 1_000_000]));
            let writers = [1, 2].map(|byte| scope.spawn(move || write(byte)));
            while !writers.iter().all(|writer| writer.is_finished()) {
                // Other systems may refuse to open a file while it is replaced.
                if let Ok(file) = fs::read(path) {
                    assert_eq!(file.len(), len);
                }
            }
        });
        assert_eq!(files(&cache).len(), 1);
        assert!(cache.get("key").is_some_and(|image| image.len() == 1_000_000));
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_is_for_the_user_alone() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        cache.keep("key", b"image");
        let mode = fs::metadata(cache.folder.unwrap()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn the_folder_is_that_of_the_user_for_caches() {
        let of = |variables: &[(&str, &str)]| {
            folder(|name| Some(variables.iter().find(|(known, _)| *known == name)?.1.into()))
        };
        assert_eq!(of(&[]), None);
        if cfg!(windows) {
            assert_eq!(of(&[("LOCALAPPDATA", r"C:\local")]), Some(r"C:\local\anabranch-kernel".into()));
        } else {
            let home = ("HOME", "/home/user");
            assert_eq!(of(&[home]), Some("/home/user/.cache/anabranch-kernel".into()));
            assert_eq!(of(&[home, ("XDG_CACHE_HOME", "/cache")]), Some("/cache/anabranch-kernel".into()));
            assert_eq!(of(&[home, ("XDG_CACHE_HOME", "relative")]), of(&[home]));
            assert_eq!(of(&[("HOME", "relative")]), None);
            assert_eq!(of(&[home, ("CUDA_CACHE_DISABLE", "0")]), of(&[home]));
            assert_eq!(of(&[home, ("CUDA_CACHE_DISABLE", "1")]), None);
        }
    }
}
