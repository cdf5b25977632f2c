//! The error-correcting code of a drive: its limits, and decoding times.

use reprieve_base::Dur;

/// Codewords, the limits of hard and soft decoding, and the result of a failed decode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ecc {
    /// User data of a codeword.
    pub codeword_data_bytes: u32,
    /// Share of a codeword that is user data, in (0, 1].
    pub code_rate: f64,
    /// Wrong bits of a codeword that hard decoding corrects.
    pub correctable_bits: u32,
    /// Hard decoding of a codeword without errors.
    pub decode_min: Dur,
    /// Hard decoding at half the limit.
    pub decode_typ: Dur,
    /// Hard decoding at the limit, and on failure.
    pub decode_max: Dur,
    /// Most retries of a page, with other voltages.
    pub retries_max: u32,
    /// Ratio of raw bit error rates between a retry and the sense before it.
    pub retry_rber_factor: f64,
    /// Whether the first sense of a page uses the voltages with which its block was last read.
    pub remembers_retries: bool,
    /// Soft decoding, when all retries have failed.
    pub soft: Soft,
}

/// Soft decoding: senses on both sides of the last voltages give the reliability of each bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Soft {
    /// Further senses, each with its transfer; 0: there is none, and the page is lost.
    pub senses: u32,
    /// Wrong bits of a codeword that it corrects.
    pub correctable_bits: u32,
    /// Decoding time.
    pub decode: Dur,
}

impl Ecc {
    /// Returns the bits of a codeword, its parity included.
    pub fn codeword_bits(&self) -> u64 {
        // Far below 2^53: exact but for the rounding of the rate itself.
        (f64::from(self.codeword_data_bytes) * 8.0 / self.code_rate).ceil() as u64
    }

    /// Returns the codewords of these bytes, the last perhaps in part.
    pub fn codewords(&self, bytes: u32) -> u64 {
        u64::from(bytes.div_ceil(self.codeword_data_bytes))
    }

    /// Returns the raw bit error rate after these retries, of a page with `rate` at first.
    pub fn retried(&self, rate: f64, retries: u32) -> f64 {
        rate * libm::pow(self.retry_rber_factor, f64::from(retries))
    }

    /// Returns the time of hard decoding: linear from no error over half the limit to the limit.
    pub fn hard_decode(&self, errors: u64) -> Dur {
        let limit = u64::from(self.correctable_bits);
        if errors > limit {
            return self.decode_max;
        }
        let between = |from: Dur, to: Dur, steps: u64| {
            // A limit of 0 has no slope.
            from + Dur::from_ns((to - from).ns() * steps / limit.max(1))
        };
        match (2 * errors).checked_sub(limit) {
            None => between(self.decode_min, self.decode_typ, 2 * errors),
            Some(beyond) => between(self.decode_typ, self.decode_max, beyond),
        }
    }
}
