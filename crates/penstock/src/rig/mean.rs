//! Means with their errors, and when one is better than another.

/// Of several measurements: their mean, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    pub value: f64,
    pub error: f64,
}

impl Mean {
    pub fn of(values: &[f64]) -> Mean {
        let count = values.len().max(1) as f64;
        let value = values.iter().sum::<f64>() / count;
        let spread = values.iter().map(|one| (one - value).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        Mean { value, error: (spread / count).sqrt() }
    }
}

/// By how much something is faster, as the logarithm of the ratio: halving and doubling weigh the same.
#[derive(Clone, Copy, Debug)]
pub struct Gain(Mean);

/// Standard errors that a gain has to be larger than.
const ERRORS: f64 = 2.0;
/// A gain that is smaller is not worth a line.
const WORTH: f64 = 0.02;

impl Gain {
    pub fn of(ratios: &[f64]) -> Gain {
        Gain(Mean::of(&ratios.iter().map(|ratio| ratio.max(1e-9).ln()).collect::<Vec<f64>>()))
    }

    pub fn is_better(&self) -> bool {
        self.0.value > ERRORS * self.0.error && self.0.value > WORTH
    }

    pub fn percent(&self) -> f64 {
        100.0 * (self.0.value.exp() - 1.0)
    }

    /// Two standard errors.
    pub fn error_percent(&self) -> f64 {
        100.0 * ((ERRORS * self.0.error).exp() - 1.0)
    }

    /// `+12.3 % +-2.1`
    pub fn shown(&self) -> String {
        format!("{:+.1} % +-{:.1}", self.percent(), self.error_percent())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_better_by_more_than_the_error_counts() {
        let check =
            |ratios: &[f64], expected: bool| assert_eq!(Gain::of(ratios).is_better(), expected, "{ratios:?}");
        check(&[1.10, 1.12, 1.11], true);
        check(&[1.10, 0.95, 1.20], false);
        check(&[1.01, 1.01, 1.01], false);
        check(&[0.5, 0.5, 0.5], false);
        assert_eq!(Gain::of(&[2.0, 2.0]).shown(), "+100.0 % +-0.0");
        let mean = Mean::of(&[1.0, 3.0]);
        assert_eq!((mean.value, mean.error), (2.0, 1.0));
    }
}
