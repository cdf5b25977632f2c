//! Programs in C and C++ that use the library: compiled as the pkg-config file says, and run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that cargo has put the libraries into.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a test is a program");
    let deps = test.parent().expect("a program is in a folder");
    let built = deps.parent().expect("the folder of dependencies is in the profile's");
    [built, deps]
        .into_iter()
        .find(|folder| folder.join("libreprieve.so").exists())
        .expect("cargo builds the library with its tests")
        .to_path_buf()
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compiles a program with these words, runs it, and returns what it says.
pub fn run(compiler: &[&str], source: &str, libraries_after: &[&str]) -> String {
    run_with(compiler, source, libraries_after, &[], &[])
}

/// The same with words before the program's name and behind it.
fn run_with(
    compiler: &[&str],
    source: &str,
    libraries_after: &[&str],
    under: &[&str],
    words: &[&str],
) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("program");
    let built = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .args([here("include"), here(source)])
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(libraries())
        .args(libraries_after)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", compiler[0]));
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let program = program.to_str().expect("a path of letters");
    let line = [under, &[program], words].concat();
    let ran = Command::new(line[0])
        .args(&line[1..])
        .env("LD_LIBRARY_PATH", libraries())
        .output()
        .expect("a program that was built runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("programs say what they have to in ASCII")
}

pub const SHARED: [&str; 1] = ["-lreprieve"];

#[test]
fn the_contract_holds_from_c_and_from_cpp() {
    let expected = format!("all right with {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run(&["cc", "-std=c11"], "tests/c/contract.c", &SHARED), expected);
    assert_eq!(run(&["c++", "-std=c++17", "-x", "c++"], "tests/c/contract.cpp", &SHARED), expected);
}

#[test]
fn a_program_may_take_the_library_into_itself() {
    let archive = libraries().join("libreprieve.a");
    let archive = archive.to_str().expect("a path of letters");
    let said =
        run(&["cc", "-std=c11"], "tests/c/contract.c", &[archive, "-lm", "-lpthread", "-ldl"]);
    assert!(said.starts_with("all right"), "{said}");
}

/// Eight clients, each with a read of 30 us or more and 50 us of thinking: at most 100 reads a ms.
#[test]
fn the_event_loop_of_the_guide_runs() {
    let said = run(&["cc", "-std=c11"], "examples/event_loop.c", &SHARED);
    let numbers: Vec<u64> = said.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [reads, latency_ns, in_ns] = numbers[..] else { panic!("{said}") };
    assert_eq!(reads, 2_000);
    assert!(latency_ns >= 30_000, "{said}");
    // Little's law: clients are as many as reads under way and thoughts.
    let clients = (latency_ns + 50_000) as f64 * reads as f64 / in_ns as f64;
    assert!((7.9..8.1).contains(&clients), "{said}: {clients} clients");
}

/// Words that pkg-config has for a package; `None` if it is not installed.
fn package(name: &str) -> Option<Vec<String>> {
    let found = Command::new("pkg-config").args(["--cflags", "--libs", name]).output().ok()?;
    let words = String::from_utf8(found.stdout).ok()?;
    found.status.success().then(|| words.split_whitespace().map(str::to_string).collect())
}

#[test]
fn a_platform_of_systemc_runs() {
    let Some(words) = package("systemc") else {
        println!("left out: SystemC is not installed here (apt-get install libsystemc-dev)");
        return;
    };
    let folder = here("systemc");
    let mut all = vec!["-isystem", folder.to_str().expect("a path of letters"), "-lreprieve"];
    all.extend(words.iter().map(String::as_str));
    let said = run(&["c++", "-std=c++17"], "examples/systemc_platform.cpp", &all);
    assert!(said.lines().any(|line| line == "160 us 320 us"), "{said}");
    assert_eq!(said.lines().filter(|line| line.contains(" us ")).count(), 6, "{said}");
}

/// KiB by which a program of so many requests has grown over the last nine tenths of them.
fn growth_kib(requests: &str) -> u64 {
    let said =
        run_with(&["cc", "-O2", "-std=gnu11"], "tests/c/endless.c", &SHARED, &[], &[requests]);
    let mut words = said.split(' ');
    assert_eq!(words.next(), Some(requests), "{said}");
    let growth = words.rev().nth(1).and_then(|word| word.parse().ok());
    growth.unwrap_or_else(|| panic!("{said}"))
}

/// 512 KiB are half a byte a request of the last nine tenths: tags alone have eight. In the first,
/// latencies have come to be counted in buckets.
#[test]
fn memory_does_not_grow_with_the_requests() {
    assert!(growth_kib("1000000") < 512);
}

#[test]
#[ignore = "a minute; part of `make long`"]
fn memory_does_not_grow_with_ten_million_requests() {
    assert!(growth_kib("10000000") < 512);
}

#[test]
#[ignore = "part of `make long`"]
fn sanitizers_find_nothing_in_the_programs_that_use_it() {
    let words = ["cc", "-std=gnu11", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover"];
    for source in
        ["tests/c/contract.c", "tests/c/array.c", "tests/c/endless.c", "examples/event_loop.c"]
    {
        run(&words, source, &SHARED);
    }
}

#[test]
#[ignore = "part of `make long`"]
fn valgrind_finds_nothing() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("left out: valgrind is not installed here (apt-get install valgrind)");
        return;
    }
    let under = ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full"];
    for source in ["tests/c/contract.c", "examples/event_loop.c"] {
        run_with(&["cc", "-std=c11", "-g"], source, &SHARED, &under, &[]);
    }
}
