//! Seeds that tests draw inputs from.

use std::sync::OnceLock;

use tacit_math::Seed;

/// The seed of inputs of this name: by TACIT_SEED, or by a random number of this process, which is printed. All parties
/// that a test plays get the same one.
pub fn seed(name: &str) -> Seed {
    static OF_PROCESS: OnceLock<[u8; 16]> = OnceLock::new();
    let all = OF_PROCESS.get_or_init(|| {
        let fixed = std::env::var("TACIT_SEED").ok().and_then(|text| u128::from_str_radix(&text, 16).ok());
        fixed.map_or_else(|| *Seed::random().expect("randomness").expose(), u128::to_be_bytes)
    });
    println!("{name}: rerun with TACIT_SEED={:032x}", u128::from_be_bytes(*all));
    Seed::from_bytes(*all).derive(name)
}

#[cfg(test)]
mod tests {
    use super::seed;

    #[test]
    fn parties_that_ask_for_a_name_get_one_seed() {
        let again = std::thread::spawn(|| *seed("inputs").expose()).join().expect("a seed");
        assert_eq!(*seed("inputs").expose(), again);
        assert_ne!(*seed("others").expose(), again);
    }
}
