//! Marks of secret and public bytes for valgrind's memcheck: `make constant-time`, docs/security/constant-time.md.
//!
//! memcheck follows every bit that is marked secret through memory and registers, and reports each branch and each
//! address that depends on one. It was made for memory that was never written; a secret is marked as such memory
//! (Langley, "ctgrind", 2010).
//!
//! Sources of secrets call [`secret`]. Where a protocol makes something public, [`public`] or [`published`] ends the
//! mark, with the reason beside it. In every build but that of the check (`--cfg tacit_memcheck`) all of them are
//! empty.

/// From here on these bytes are secret. Their values stay.
#[inline(always)]
pub fn secret<T: Copy>(bytes: &mut [T]) {
    #[cfg(tacit_memcheck)]
    valgrind::make_undefined(bytes);
    let _ = bytes;
}

/// From here on these bytes are public: whoever calls this says why. Their values stay.
#[inline(always)]
pub fn public<T: Copy>(bytes: &mut [T]) {
    #[cfg(tacit_memcheck)]
    valgrind::make_defined(bytes);
    let _ = bytes;
}

/// As [`public`], for a value: what is returned is public, whatever it was computed from.
#[inline(always)]
#[must_use]
pub fn published<T: Copy>(mut value: T) -> T {
    public(std::slice::from_mut(&mut value));
    value
}

/// As [`secret`], for values that a test makes up.
#[must_use]
pub fn marked<T: Copy>(mut values: Vec<T>) -> Vec<T> {
    secret(&mut values);
    values
}

#[cfg(tacit_memcheck)]
pub use valgrind::findings;

/// The name, and how many [`findings`] there are while `work` runs, if there are any: all runs together are compared
/// with an empty list.
///
/// # Panics
/// As [`findings`].
#[cfg(tacit_memcheck)]
pub fn found(name: &str, work: impl FnOnce()) -> Vec<(String, usize)> {
    let count = findings(name, work);
    (count > 0).then(|| (name.to_owned(), count)).into_iter().collect()
}

/// Client requests: a sequence of instructions that changes nothing on a processor, and by which a program talks to
/// valgrind when it runs there (valgrind.h, memcheck.h). Written out, because crates for it need valgrind's headers and
/// libclang to compile.
#[cfg(tacit_memcheck)]
mod valgrind {
    #[cfg(not(target_arch = "x86_64"))]
    compile_error!("the check of branches and addresses runs on x86-64");

    const RUNNING_ON_VALGRIND: usize = 0x1001;
    const COUNT_ERRORS: usize = 0x1201;
    const MEMCHECK: usize = (b'M' as usize) << 24 | (b'C' as usize) << 16;
    const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
    const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;

    /// Zero where the program does not run under valgrind.
    fn request(request: usize, address: *mut u8, length: usize) -> usize {
        let arguments = [request, address as usize, length, 0, 0, 0];
        let mut result = 0_usize;
        // SAFETY: four rotations of rdi by 128 bits in all and an exchange of rbx with itself change flags alone. The
        // compiler takes the whole for something that may read and write the memory behind the pointers, so that it
        // computes with nothing it read before.
        unsafe {
            std::arch::asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") arguments.as_ptr(),
                inout("rdx") result,
            );
        }
        result
    }

    pub(super) fn make_undefined<T: Copy>(bytes: &mut [T]) {
        request(MAKE_MEM_UNDEFINED, bytes.as_mut_ptr().cast(), size_of_val(bytes));
    }

    pub(super) fn make_defined<T: Copy>(bytes: &mut [T]) {
        request(MAKE_MEM_DEFINED, bytes.as_mut_ptr().cast(), size_of_val(bytes));
    }

    /// How many branches and addresses memcheck has reported while `work` ran, in all threads. memcheck's own output
    /// says where.
    ///
    /// # Panics
    /// If the program does not run under valgrind: then nothing is looked for.
    pub fn findings(name: &str, work: impl FnOnce()) -> usize {
        let ask = |what| request(what, std::ptr::null_mut(), 0);
        assert_ne!(ask(RUNNING_ON_VALGRIND), 0, "run this by `make constant-time`: it needs valgrind around it");
        eprintln!("== {name}");
        let before = ask(COUNT_ERRORS);
        work();
        ask(COUNT_ERRORS) - before
    }
}
