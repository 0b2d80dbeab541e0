//! Means with their errors, and when one is better than another.

/// Of several measurements: their mean, its standard error, and what the error is multiplied with so that the
/// true mean lies within in 95 of 100 cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    pub value: f64,
    pub error: f64,
    quantile: f64,
}

/// Student's t for 95 % on both sides, by the degrees of freedom from 1 on: few measurements know their own
/// spread badly.
const QUANTILES: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// With many more it is as good as this.
const QUANTILE_OF_MANY: f64 = 2.0;

impl Mean {
    pub fn of(values: &[f64]) -> Mean {
        let count = values.len().max(1) as f64;
        let value = values.iter().sum::<f64>() / count;
        let spread = values.iter().map(|one| (one - value).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let freedom = values.len().saturating_sub(1).max(1);
        let quantile = QUANTILES.get(freedom - 1).copied().unwrap_or(QUANTILE_OF_MANY);
        Mean { value, error: (spread / count).sqrt(), quantile }
    }

    /// How far the true mean may be away.
    pub fn margin(&self) -> f64 {
        self.quantile * self.error
    }
}

/// By how much something is faster, as the logarithm of the ratio: halving and doubling weigh the same.
#[derive(Clone, Copy, Debug)]
pub struct Gain(Mean);

/// A gain that is smaller is not worth a line.
const WORTH: f64 = 0.02;

impl Gain {
    pub fn of(ratios: &[f64]) -> Gain {
        Gain(Mean::of(&ratios.iter().map(|ratio| ratio.max(1e-9).ln()).collect::<Vec<f64>>()))
    }

    pub fn is_better(&self) -> bool {
        self.0.value > self.0.margin() && self.0.value > WORTH
    }

    pub fn percent(&self) -> f64 {
        100.0 * (self.0.value.exp() - 1.0)
    }

    /// How far the true gain may be away, in 95 of 100 cases.
    pub fn error_percent(&self) -> f64 {
        100.0 * (self.0.margin().exp() - 1.0)
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
        // Two that agree by chance prove little.
        check(&[1.10, 1.14], false);
        check(&[1.10, 0.95, 1.20], false);
        check(&[1.01, 1.01, 1.01], false);
        check(&[0.5, 0.5, 0.5], false);
        assert_eq!(Gain::of(&[2.0, 2.0]).shown(), "+100.0 % +-0.0");
        let mean = Mean::of(&[1.0, 3.0]);
        assert_eq!((mean.value, mean.error, mean.margin()), (2.0, 1.0, 12.706));
        assert_eq!(Mean::of(&[1.0; 40]).margin(), 0.0);
    }
}
