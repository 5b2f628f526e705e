//! Reads the versions of this crate's dependencies from `Cargo.lock`.
//!
//! The build script includes this file, so that a report names the versions that were compiled in. It parses only four
//! kinds of lines of a lock file: `[[package]]`, `name`, `version` and the entries of `dependencies`. An entry is
//! `"name"`, or `"name version"` when the lock file holds several versions of that name.

/// Returns the version that `package` gets of `dependency`, or `None` if the lock file has no such pair.
pub fn version_of(lock: &str, package: &str, dependency: &str) -> Option<String> {
    let own = packages(lock).find(|block| field(block, "name") == Some(package))?;
    let entry = own
        .lines()
        .map(|line| line.trim().trim_end_matches(',').trim_matches('"'))
        .find(|entry| entry.split(' ').next() == Some(dependency))?;
    let wanted = entry.split(' ').nth(1);
    packages(lock)
        .filter(|block| field(block, "name") == Some(dependency))
        .filter_map(|block| field(block, "version"))
        .find(|version| wanted.is_none_or(|wanted| wanted == *version))
        .map(str::to_owned)
}

fn packages(lock: &str) -> impl Iterator<Item = &str> {
    lock.split("[[package]]").skip(1)
}

fn field<'a>(block: &'a str, key: &str) -> Option<&'a str> {
    block.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == key).then(|| value.trim().trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::version_of;

    const LOCK: &str = r#"
version = 4

[[package]]
name = "one"
version = "1.2.3"

[[package]]
name = "two"
version = "0.1.0"

[[package]]
name = "two"
version = "0.2.0"

[[package]]
name = "us"
version = "9.9.9"
dependencies = [
 "one",
 "two 0.2.0",
]
"#;

    #[test]
    fn finds_the_version_that_the_package_depends_on() {
        assert_eq!(version_of(LOCK, "us", "one").as_deref(), Some("1.2.3"));
        assert_eq!(version_of(LOCK, "us", "two").as_deref(), Some("0.2.0"));
    }

    #[test]
    fn unknown_package_has_no_version() {
        assert_eq!(version_of(LOCK, "us", "three"), None);
        assert_eq!(version_of(LOCK, "one", "two"), None);
        assert_eq!(version_of("", "us", "one"), None);
    }
}
