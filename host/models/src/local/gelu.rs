//! The activation of BERT, by a quotient of polynomials: a library's error function, one number at a time, was the dearest step
//! of embedding a question.

use candle_core::{CpuStorage, CustomOp1, Error, Layout, Result, Shape, Tensor};

/// Beyond this the error function of a float is 1.
const FLAT: f32 = 4.0;

/// Coefficients of the odd powers above the line, highest first.
const ABOVE: [f32; 7] = [
    -2.726_142_3e-10,
    2.770_681_4e-8,
    -2.101_024e-6,
    -5.692_506_4e-5,
    -7.349_906e-4,
    -2.954_6e-3,
    -1.609_603_3e-2,
];

/// Coefficients of the even powers below the line, highest first.
const BELOW: [f32; 5] = [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329e-3, -1.426_474e-2];

/// `x` times the share of a normal distribution that lies below it, of each number.
pub(super) fn gelu(tensor: &Tensor) -> Result<Tensor> {
    tensor.contiguous()?.apply_op1_no_bwd(&Gelu)
}

struct Gelu;

impl CustomOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let all = storage.as_slice::<f32>()?;
        let held = layout.contiguous_offsets().and_then(|(from, to)| all.get(from..to));
        let held = held.ok_or_else(|| Error::Msg("gelu: the numbers do not lie one after another".into()))?;
        Ok((CpuStorage::F32(held.iter().map(|x| of(*x)).collect()), layout.shape().clone()))
    }
}

fn of(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function as a quotient of two polynomials.
fn erf(x: f32) -> f32 {
    let x = x.clamp(-FLAT, FLAT);
    let square = x * x;
    let at = |coefficients: &[f32]| coefficients.iter().fold(0.0, |sum, next| sum * square + next);
    x * at(&ABOVE) / at(&BELOW)
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn it_is_the_error_function() {
        // From tables of the function.
        for (x, want) in [
            (0.0, 0.0),
            (0.1, 0.112_462_92),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (1.5, 0.966_105_14),
            (2.0, 0.995_322_3),
            (3.0, 0.999_977_9),
            (9.0, 1.0),
        ] {
            for (x, want) in [(x, want), (-x, -want)] {
                let got = erf(x);
                assert!((got - want).abs() < 5e-7, "{x}: {got}, not {want}");
            }
        }
    }

    #[test]
    fn it_agrees_with_the_library_wherever_numbers_lie() {
        let tensor = Tensor::arange(-60.0f32, 60.0, &Device::Cpu).unwrap().reshape((10, 12)).unwrap();
        let tensor = (tensor / 10.0).unwrap().t().unwrap();
        let gap = (gelu(&tensor).unwrap() - tensor.gelu_erf().unwrap()).unwrap().abs().unwrap();
        let most = gap.flatten_all().unwrap().max(0).unwrap().to_scalar::<f32>().unwrap();
        assert!(most < 2e-6, "{most}");
    }
}
