//! A large vector takes the memory of an earlier one. A program of its own, without the test harness: `main` asks the
//! allocator before any other thread has a heap, as the parties do.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn main() {
    tacit_math::allocator::keep_large_vectors();
    let touch = || std::hint::black_box(vec![1u8; 8 << 20]);
    // Of another thread's vectors, too.
    std::thread::spawn(touch).join().expect("no panic");
    let before = faults();
    drop(touch());
    let taken = faults() - before;
    assert!(taken < 1024, "{taken} faults for 2048 pages");
    println!("test a_large_vector_again_takes_no_new_pages ... ok");
}

/// Page faults of this thread so far that needed no disk.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux");
    let fields = stat.rsplit_once(')').expect("a name in brackets").1;
    fields.split_whitespace().nth(7).expect("minflt").parse().expect("a number")
}

/// The allocator of other systems is left as it is.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() {}
