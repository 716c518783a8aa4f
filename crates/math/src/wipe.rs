//! Wiping of long secrets.

use bytemuck::Zeroable;

/// Overwrites secrets with zeros, which the compiler may not leave out. As fast as a fill: the volatile writes of a
/// `Zeroize` vector take many times longer.
pub fn wipe<T: Copy + Zeroable>(secrets: &mut [T]) {
    secrets.fill(T::zeroed());
    zeroize::optimization_barrier(secrets);
}

#[cfg(test)]
mod tests {
    use super::wipe;

    #[test]
    fn nothing_is_left() {
        let mut secrets = vec![7u128; 1000];
        wipe(&mut secrets[..999]);
        assert_eq!((&secrets[..999], secrets[999]), (&[0; 999][..], 7));
    }
}
