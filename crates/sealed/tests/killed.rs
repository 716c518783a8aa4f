//! A process that is killed leaves nothing of the files without a name: no name while it lives, nothing in clear, and
//! no file when it is gone.

#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tacit_sealed::Scratch;

/// Where the process that is killed puts its files: it is set for that process alone.
const FOLDER: &str = "TACIT_TEST_KILLED_IN";
/// What it says when its files are written.
const WRITTEN: &str = "written";
const PATTERN: &[u8] = b"a share that was beyond the memory budget";
const FILES: usize = 3;

#[test]
#[ignore = "a process of its own, which the test below starts and kills"]
fn a_process_with_files() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let scratch = Scratch::new(Path::new(&folder)).expect("randomness");
    let content = PATTERN.repeat(50_000);
    let files: Vec<_> = (0..FILES).map(|_| scratch.file(|file| file.push(&content)).expect("a disk")).collect();
    println!("{WRITTEN}");
    std::io::stdout().flush().expect("somebody reads");
    while !files.is_empty() {
        std::thread::park();
    }
}

/// The process once its files are written.
fn started(folder: &Path) -> Child {
    let mut child = Command::new(env::current_exe().expect("this test"))
        .args(["--exact", "a_process_with_files", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let said = lines.map(|line| line.expect("a line")).find(|line| line.contains(WRITTEN));
    assert!(said.is_some(), "it ended before its files were written");
    child
}

/// The files of a folder that a process has open, under whatever name the system calls them.
fn open_files(child: &Child, folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(format!("/proc/{}/fd", child.id())).expect("a process");
    let paths = all.map(|entry| entry.expect("a file").path());
    paths.filter(|path| fs::read_link(path).is_ok_and(|of| of.starts_with(folder))).collect()
}

#[test]
fn a_killed_process_leaves_nothing_of_its_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a folder");
    let mut child = started(&path);
    let files = open_files(&child, &path);
    let contents: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).expect("it is open")).collect();
    let names = fs::read_dir(&path).expect("a folder").count();
    child.kill().expect("it runs");
    let ended = child.wait().expect("it has ended");
    assert!(!ended.success(), "it was killed");
    assert_eq!(files.len(), FILES);
    assert_eq!(names, 0, "its files have no names");
    for content in contents {
        assert!(content.len() > PATTERN.len() * 50_000);
        assert!(!content.windows(8).any(|bytes| bytes == &PATTERN[..8]), "a share is on the disk in clear");
    }
    assert_eq!(fs::read_dir(&path).expect("a folder").count(), 0, "nothing is left");
}
