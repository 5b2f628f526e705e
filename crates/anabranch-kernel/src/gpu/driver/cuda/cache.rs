//! Compiled kernels, kept in files from one process to the next.
//!
//! NVRTC takes some 40 ms for a module, and half a second for the first one if its library is not in memory. A file has
//! all that an image is made by, so an image is never taken for another one. A file that was not written whole, or has
//! changed since, does not have its checksum. The cache helps or does nothing: no error of a file becomes one of an
//! operation.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder of the files, if there is one.
pub(super) struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// Returns the cache of the user. It keeps nothing if the environment names no folder or switches the caches of
    /// CUDA off.
    pub(super) fn of_user() -> Self {
        Self { folder: folder(|name| env::var_os(name)) }
    }

    #[cfg(test)]
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// Returns the image that `key` makes: a kept one, or what `make` returns, which is then kept.
    pub(super) fn get_or_make<E>(&self, key: &str, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        let Some(folder) = &self.folder else { return make() };
        let path = folder.join(format!("{:016x}", hash(&[key.as_bytes()])));
        if let Some(image) = fs::read(&path).ok().and_then(|file| image_of(file, key)) {
            return Ok(image);
        }
        let image = make()?;
        // Without the file the next process compiles again.
        let _ = keep(folder, &path, key, &image);
        Ok(image)
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
fn keep(folder: &Path, path: &Path, key: &str, image: &[u8]) -> std::io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    fs::create_dir_all(folder)?;
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let unfinished = path.with_extension(format!("{}-{number}", process::id()));
    let written = fs::write(&unfinished, file_of(key, image)).and_then(|()| fs::rename(&unfinished, path));
    written.inspect_err(|_| {
        let _ = fs::remove_file(&unfinished);
    })
}

/// Returns the bytes of a file: the checksum, the length of the key, the key, the image.
pub(super) fn file_of(key: &str, image: &[u8]) -> Vec<u8> {
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

    /// Returns what the cache has for a key.
    fn kept(cache: &Cache, key: &str) -> Option<Vec<u8>> {
        cache.get_or_make(key, || Err(())).ok()
    }

    fn keep_in(cache: &Cache, key: &str, image: &[u8]) {
        let made = cache.get_or_make(key, || Ok::<_, ()>(image.to_vec()));
        assert_eq!(made, Ok(image.to_vec()));
    }

    /// Returns the paths of all files.
    fn files(cache: &Cache) -> Vec<PathBuf> {
        let entries = fs::read_dir(cache.folder.as_ref().unwrap()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn an_image_is_made_once_for_each_key() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        for (key, image) in [("one", &b"first"[..]), ("two", b"second"), ("", b"no key"), ("empty", b"")] {
            assert_eq!(kept(&cache, key), None);
            keep_in(&cache, key, image);
            assert_eq!(kept(&cache, key).as_deref(), Some(image));
        }
        assert_eq!(kept(&cache, "one").as_deref(), Some(&b"first"[..]));
        assert_eq!(files(&cache).len(), 4);
    }

    #[test]
    fn what_fails_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        assert_eq!(cache.get_or_make("key", || Err("no kernel")), Err("no kernel"));
        keep_in(&cache, "key", b"image");
    }

    #[test]
    fn a_file_that_is_cut_or_changed_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        keep_in(&cache, "key", b"image");
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
            assert_eq!(kept(&cache, "key"), None, "{file:?}");
            keep_in(&cache, "key", b"image");
            assert_eq!(fs::read(path).unwrap(), whole);
        }
    }

    #[test]
    fn a_file_of_another_key_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        keep_in(&cache, "key", b"image");
        // As if both keys had one hash. The second one begins like the first.
        for (key, image) in [("kez", &b"image"[..]), ("keyi", b"mage"), ("ke", b"yimage"), ("", b"keyimage")] {
            fs::write(&files(&cache)[0], file_of(key, image)).unwrap();
            assert_eq!(kept(&cache, "key"), None, "{key}");
        }
    }

    #[test]
    fn without_a_folder_nothing_is_kept_and_nothing_fails() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "no folder").unwrap();
        for cache in [cache_in(&file), Cache { folder: None }] {
            keep_in(&cache, "key", b"first");
            keep_in(&cache, "key", b"second");
        }
        // A folder that has the name of the file.
        let cache = cache_in(folder.path());
        keep_in(&cache, "key", b"image");
        let path = files(&cache).remove(0);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        keep_in(&cache, "key", b"other");
        assert_eq!(files(&cache), [path], "an unfinished file is left");
    }

    #[test]
    fn threads_see_whole_files_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let images: Vec<Vec<u8>> = (1..5).map(|byte| vec![byte; 100_000]).collect();
        thread::scope(|scope| {
            for image in &images {
                let cache = cache_in(folder.path());
                let images = &images;
                scope.spawn(move || {
                    for round in 0..20 {
                        let key = (round % 3).to_string();
                        let found = cache.get_or_make(&key, || Ok::<_, ()>(image.clone())).unwrap();
                        assert!(images.contains(&found));
                        let _ = fs::remove_file(files(&cache).first().unwrap_or(&PathBuf::new()));
                    }
                });
            }
        });
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
