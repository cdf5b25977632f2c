//! Rates of raw bit errors by hand, draws of errors against the binomial's own sums, decode times.

use reprieve_base::{Dur, Stream};
use reprieve_nand::reliability::{
    Characterisation, Rber, Stress, SuspendWear, Wear, WorstCodeword,
};
use reprieve_nand::{Ecc, Soft};

/// Whole powers, so that every term is exact by hand.
const RBER: Rber = Rber {
    epsilon: 0.001,
    alpha: 1e-9,
    k: 2.0,
    beta: 1e-6,
    m: 1.0,
    n: 0.5,
    gamma: 1e-8,
    p: 0.5,
    q: 1.0,
    delta: 1e-5,
};

fn assert_close(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-12 * want.abs().max(1e-12), "{got} for {want}");
}

#[test]
fn each_term_is_what_the_formula_says() {
    // 100 cycles, 9 days, 50 reads, 3 suspensions: 1e-5 of wear, 1e-6 x 100 x 3 of retention,
    // 1e-8 x 10 x 50 of reads, 3e-5 of suspensions.
    let stress = Stress { cycles: 100.0, retention_days: 9.0, reads: 50.0, suspensions: 3.0 };
    assert_close(RBER.rate(&stress), 0.001 + 1e-5 + 3e-4 + 5e-6 + 3e-5);
    let alone = |change: fn(&mut Stress)| {
        let mut stress = Stress { cycles: 100.0, ..Stress::default() };
        change(&mut stress);
        RBER.rate(&stress)
    };
    assert_close(alone(|_| ()), 0.001 + 1e-5);
    assert_close(alone(|stress| stress.retention_days = 9.0), 0.001 + 1e-5 + 3e-4);
    assert_close(alone(|stress| stress.reads = 50.0), 0.001 + 1e-5 + 5e-6);
    assert_close(alone(|stress| stress.suspensions = 3.0), 0.001 + 1e-5 + 3e-5);
    assert_close(RBER.rate(&Stress::default()), 0.001);
    // No worse than a coin.
    assert_eq!(RBER.rate(&Stress { cycles: 1e6, ..stress }), 0.5);
}

#[test]
fn a_term_that_is_off_is_off_whatever_the_stress() {
    let rber = Rber { epsilon: 0.25, ..Rber::default() };
    let stress = Stress { cycles: 0.0, retention_days: 1e9, reads: 1e9, suspensions: 1e9 };
    assert_eq!(rber.rate(&stress), 0.25);
}

#[test]
fn a_characterisation_wears_one_block_and_ages_the_other() {
    let test = Characterisation {
        cycles: 1000.0,
        run_cycles: 50.0,
        suspensions: 10.0,
        wear_per_program_suspend: 0.02,
        elapsed_days: 4.0,
    };
    let found = RBER.characterised(&test);
    // Before, both have 1e-9 x 1000^2 of wear.
    assert_close(found.suspended.0, 0.001 + 0.001);
    assert_close(found.untouched.0, 0.001 + 0.001);
    // 50 cycles of 1 + 10 x 0.02 are 60; ten suspensions of the last program.
    assert_close(found.suspended.1, 0.001 + 1e-9 * 1060.0 * 1060.0 + 1e-4);
    // Four days: 1e-6 x 1000 x 2.
    assert_close(found.untouched.1, 0.001 + 0.001 + 0.002);
    // As Zambelli et al. found it, suspensions alone change nothing.
    let same = Rber { delta: 0.0, alpha: 0.0, ..RBER }.characterised(&test);
    assert_eq!(same.suspended.0, same.suspended.1);
    assert!(same.untouched.1 > same.untouched.0);
}

#[test]
fn suspensions_are_wear() {
    let (program_suspensions, erase_suspensions) = (20, 4);
    let wear = Wear {
        cycles_at_start: 7,
        erases: 3,
        program_suspensions,
        erase_suspensions,
        slc_cycles: 0.0,
    };
    for (per_program, per_erase, cycles) in
        [(0.0, 0.0, 10.0), (0.25, 0.0, 15.0), (0.0, 0.5, 12.0), (0.25, 0.5, 17.0), (0.5, 0.5, 22.0)]
    {
        assert_eq!(wear.cycles(&SuspendWear { per_program, per_erase }), cycles);
    }
}

/// Probability of each count of errors from 0 on, by the ratio of neighbours.
fn binomial(bits: u64, rate: f64) -> Vec<f64> {
    let mut chances = vec![(1.0 - rate).powi(bits as i32)];
    for errors in 0..bits {
        let ratio = (bits - errors) as f64 / (errors + 1) as f64 * rate / (1.0 - rate);
        let next = chances[errors as usize] * ratio;
        if errors as f64 > bits as f64 * rate && next < 1e-30 {
            break;
        }
        chances.push(next);
    }
    chances
}

#[test]
fn draws_have_the_tail_of_the_binomial() {
    // A mean of 40 errors and one of 3. A false alarm needs five
    // standard deviations.
    for (bits, rate, limits) in
        [(10_000u64, 0.004, [40u64, 50, 60, 64]), (1000, 0.003, [3, 6, 9, 10])]
    {
        let chances = binomial(bits, rate);
        let (draws, mut counts) = (400_000, [0u64; 4]);
        let mut stream = Stream::new(1, "test.errors", bits);
        let mut worst = WorstCodeword::new(bits);
        let mut sum = 0;
        for _ in 0..draws {
            let errors = worst.draw(rate, 1, &mut stream);
            sum += errors;
            for (count, limit) in counts.iter_mut().zip(limits) {
                *count += u64::from(errors > limit);
            }
        }
        let mean = sum as f64 / draws as f64;
        let wanted = bits as f64 * rate;
        assert!((mean - wanted).abs() < 5.0 * (wanted / draws as f64).sqrt(), "{mean}");
        for (count, limit) in counts.into_iter().zip(limits) {
            let tail: f64 = chances[limit as usize + 1..].iter().sum();
            let wanted = tail * draws as f64;
            let tolerance = 5.0 * (wanted * (1.0 - tail)).sqrt();
            assert!(wanted > 20.0, "too rare to tell: {wanted}");
            assert!((count as f64 - wanted).abs() < tolerance, "{limit}: {count} for {wanted}");
        }
    }
}

#[test]
fn the_worst_of_several_codewords_counts() {
    // P(worst of 4 > limit) = 1 - (1 - tail)^4.
    let (bits, rate, limit, draws) = (1000, 0.003, 6, 200_000);
    let tail: f64 = binomial(bits, rate)[limit as usize + 1..].iter().sum();
    let wanted = 1.0 - (1.0 - tail).powi(4);
    let mut stream = Stream::new(1, "test.errors", 0);
    let mut worst = WorstCodeword::new(bits);
    let above = (0..draws).filter(|_| worst.draw(rate, 4, &mut stream) > limit).count();
    let tolerance = 5.0 * (wanted * (1.0 - wanted) * f64::from(draws)).sqrt();
    assert!((above as f64 - wanted * f64::from(draws)).abs() < tolerance, "{above}");
    assert_eq!(worst.draw(0.0, 4, &mut stream), 0);
}

const ECC: Ecc = Ecc {
    codeword_data_bytes: 1024,
    code_rate: 0.9,
    correctable_bits: 70,
    decode_min: Dur::from_us(1),
    decode_typ: Dur::from_us(4),
    decode_max: Dur::from_us(20),
    retries_max: 3,
    retry_rber_factor: 0.5,
    remembers_retries: false,
    soft: Soft { senses: 2, correctable_bits: 100, decode: Dur::from_us(30) },
};

#[test]
fn decoding_takes_the_longer_the_more_is_wrong() {
    let times = [0, 7, 35, 42, 70, 71].map(|errors| ECC.hard_decode(errors).ns());
    // 1 us + 14/70 of 3; half the limit; 4 us + 14/70 of 16; the limit; a failure.
    assert_eq!(times, [1000, 1600, 4000, 7200, 20_000, 20_000]);
    let none = Ecc { correctable_bits: 0, ..ECC };
    assert_eq!([0, 1].map(|errors| none.hard_decode(errors).ns()), [4000, 20_000]);
}

#[test]
fn codewords_have_parity_and_pages_have_codewords() {
    // 8192 / 0.9 = 9102.2 bits.
    assert_eq!(ECC.codeword_bits(), 9103);
    assert_eq!(Ecc { code_rate: 1.0, ..ECC }.codeword_bits(), 8192);
    assert_eq!([1024, 1025, 4096].map(|bytes| ECC.codewords(bytes)), [1, 2, 4]);
}
