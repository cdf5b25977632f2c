//! Keys of errors in cells, their correction, and wear.

use crate::row::*;

const AGEING: &[Need] = &[is("reliability.model", &["power"])];
const LDPC: &[Need] = &[is("ecc.code", &["ldpc"])];
const TYPED: &[Need] = &[given("timing.page_types")];
const PARK: &str = "72 bits per 1 KiB: Park et al., ASPLOS 2021 (unconfirmed)";
const FORM: &str = "Kim, Choi and Min, FAST 2019, for the form";
const DECODE: &str = "Microsemi 2014: 1, 4 and 20 us for 1, 4 and 20 iterations of LDPC";
const WEAR: &str = "US9886214B2 and US10152273B2 book suspensions as wear; no figure is published";

section! {
    /// Raw bit errors, epsilon + alpha C^k + beta C^m t^n + gamma C^p R^q + delta S, and wear.
    RELIABILITY "reliability"

    /// Whether cells err and wear.
    model [reliability.ageing] variant_of {
        "none" = None => None, "Cells neither err nor wear out.";
        "power" = Some(_) => Some(Default::default()),
            "Power laws of cycles, age and reads; blocks count their wear.";
    }, or("'none'");
    /// Share of bits that are wrong from the start.
    epsilon [reliability.rber.epsilon] closed(0.0, 0.5), or("0"), from(FORM);
    /// Factor of wear, over the cycles C of the block.
    alpha [reliability.rber.alpha] closed(0.0, 0.5), or("0"), from(FORM);
    /// Exponent of the cycles in wear.
    k [reliability.rber.k] closed(0.0, 10.0), or("1"), from(FORM);
    /// Factor of retention, over cycles C and days t.
    beta [reliability.rber.beta] closed(0.0, 0.5), or("0"), from(FORM);
    /// Exponent of the cycles in retention.
    m [reliability.rber.m] closed(0.0, 10.0), or("1"), from(FORM);
    /// Exponent of the days since the page was programmed.
    n [reliability.rber.n] closed(0.0, 10.0), or("1"), from(FORM);
    /// Factor of read disturb, over cycles C and reads R.
    gamma [reliability.rber.gamma] closed(0.0, 0.5), or("0"), from(FORM);
    /// Exponent of the cycles in read disturb.
    p [reliability.rber.p] closed(0.0, 10.0), or("1"), from(FORM);
    /// Exponent of the reads of the block since its erase.
    q [reliability.rber.q] closed(0.0, 10.0), or("1"), from(FORM);
    /// Added for each suspension S of the program that wrote the page.
    delta [reliability.rber.delta] closed(0.0, 0.5), or("0"),
        from("Zambelli et al. 2021, Figure 9: no change, so 0");
    /// Factor of the rate of pages of each type; absent: alike.
    rber_factor_by_type [reliability.factor_by_type] numbers(closed(0.0, 1000.0)), absent(),
        when(TYPED);
    /// Rated cycles of a block; absent: the summary has no lifetime.
    rated_cycles [reliability.rated_cycles] count(1, 100_000_000), absent();
    /// Days that the data of before the first request has lain there.
    age_days [reliability.ageing?.age_days] closed(0.0, 36_500.0), or("0"), when(AGEING),
        environment();
    /// Cycles of the blocks before the first request.
    cycles_at_start [reliability.ageing?.cycles_at_start] count(0, 100_000_000), or("0"),
        when(AGEING), environment();
    /// Each block draws its cycles at the start from within this share of their mean.
    cycles_spread [reliability.ageing?.cycles_spread] closed(0.0, 1.0), or("0"), when(AGEING),
        environment();
    /// Share of a cycle that the suspension of a program costs its block.
    wear_per_program_suspend [reliability.ageing?.suspend_wear.per_program] closed(0.0, 1.0),
        or("0"), when(AGEING), from(WEAR);
    /// Share of a cycle that the suspension of an erase costs its block.
    wear_per_erase_suspend [reliability.ageing?.suspend_wear.per_erase] closed(0.0, 1.0), or("0"),
        when(AGEING), from(WEAR);
    /// Share of a cycle that the suspension of a program or erase costs its block.
    wear_per_suspend [] closed(0.0, 1.0), or("0"), when(AGEING),
        stands_for(&["reliability.wear_per_program_suspend", "reliability.wear_per_erase_suspend"]),
        from(WEAR);
    /// Days over which the rated cycles last, for drive writes a day.
    warranty_days [reliability.ageing?.warranty_days] count(1, 36_500), or("1825"), when(AGEING),
        from("five years, usual for enterprise drives");
}

section! {
    /// The error-correcting code, and the handling of its failures.
    ECC "ecc"

    /// The code that corrects raw bit errors.
    code [ecc] variant_of {
        "none" = None => None, "Errors are counted as a rate, without effect.";
        "ldpc" = Some(_) => Some(Default::default()), "Hard decoding, read retry, soft decoding.";
    }, or("'none'"), when(AGEING);
    /// User data of a codeword.
    codeword_bytes [ecc?.codeword_data_bytes] count(64, 1 << 20), or("1024"), when(LDPC),
        from(PARK);
    /// User data as a share of the codeword.
    code_rate [ecc?.code_rate] above(0.0, 1.0), or("0.9"), when(LDPC), from("assumed");
    /// Wrong bits of a codeword that hard decoding corrects.
    correctable_bits [ecc?.correctable_bits] count(0, 1 << 20), or("72"), when(LDPC), from(PARK);
    /// Hard decoding without an error.
    t_decode_min_us [ecc?.decode_min] us(), or("1"), when(LDPC), from(DECODE);
    /// Hard decoding at half the limit.
    t_decode_typ_us [ecc?.decode_typ] us(), or("4"), when(LDPC), from(DECODE);
    /// Hard decoding at the limit, and beyond.
    t_decode_max_us [ecc?.decode_max] us(), or("20"), when(LDPC), from(DECODE);
    /// How often a page is sensed again, with other voltages, if hard decoding fails.
    retries_max [ecc?.retries_max] count(0, 100), or("8"), when(LDPC), from("assumed");
    /// Rate of raw bit errors of such a sense, as a share of that of the one before.
    retry_rber_factor [ecc?.retry_rber_factor] closed(0.0, 1.0), or("0.7"), when(LDPC),
        from("assumed");
    /// Voltages of the first sense of a page.
    first_sense [ecc?.remembers_retries] one_of {
        "nominal" = false, "Those of the data sheet: every read of an old page is retried anew.";
        "block" = true, "Those that last read a page of its block since the erase.";
    }, or("'nominal'"), when(LDPC),
        from("Cai et al., HPCA 2015: optimal voltages kept by block");
    /// Further senses for soft decoding after the last retry; 0: there is none.
    soft_senses [ecc?.soft.senses] count(0, 100), or("2"), when(LDPC),
        from("assumed: one on each side of the last");
    /// Wrong bits of a codeword that soft decoding corrects.
    soft_correctable_bits [ecc?.soft.correctable_bits] count(0, 1 << 20), or("108"), when(LDPC),
        from("assumed: half as many again as hard decoding");
    /// Soft decoding.
    t_soft_decode_us [ecc?.soft.decode] us(), or("20"), when(LDPC),
        from("assumed: as long as the longest hard decoding");
}
