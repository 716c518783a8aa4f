//! Logarithms of sums, binomial coefficients and tails, exact where doubles would underflow.

use std::f64::consts::LN_2;

/// log2(sum of 2^x).
pub fn log2_sum(terms: &[f64]) -> f64 {
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY { most } else { most + terms.iter().map(|x| (x - most).exp2()).sum::<f64>().log2() }
}

/// log2 of n!.
pub fn log2_factorial(n: f64) -> f64 {
    libm::lgamma(n + 1.0) / LN_2
}

/// log2 of the number of ways to choose k of n; minus infinity if there is none.
pub fn log2_choose(n: f64, k: f64) -> f64 {
    if k < 0.0 || k > n {
        return f64::NEG_INFINITY;
    }
    log2_factorial(n) - log2_factorial(k) - log2_factorial(n - k)
}

/// log2 of the probability of `least` or more successes in n independent tries of probability p each, for `least` above
/// n p.
pub fn log2_binomial_tail(n: f64, p: f64, least: f64) -> f64 {
    if least > n {
        return f64::NEG_INFINITY;
    }
    let first = log2_choose(n, least) + least * p.log2() + (n - least) * (-p).ln_1p() / LN_2;
    // Each further term is the one before times a ratio that is below one and falls.
    let (mut k, mut term, mut sum) = (least, 1.0, 1.0);
    while k < n && term > sum * f64::EPSILON {
        term *= (n - k) / (k + 1.0) * p / (1.0 - p);
        sum += term;
        k += 1.0;
    }
    first + sum.log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_small_binomials() {
        // Of ten throws of a coin eight heads or more: 56 of 1024.
        assert!((log2_binomial_tail(10.0, 0.5, 8.0) - (56.0f64 / 1024.0).log2()).abs() < 1e-9);
        assert_eq!(log2_binomial_tail(10.0, 0.5, 11.0), f64::NEG_INFINITY);
        assert!((log2_binomial_tail(30.0, 0.25, 30.0) + 60.0).abs() < 1e-9);
    }

    #[test]
    fn coefficients_and_sums() {
        assert!((log2_choose(52.0, 5.0) - 2_598_960f64.log2()).abs() < 1e-9);
        assert_eq!(log2_choose(3.0, 4.0), f64::NEG_INFINITY);
        assert!((log2_sum(&[3.0, 3.0, 4.0]) - 5.0).abs() < 1e-12);
    }
}
