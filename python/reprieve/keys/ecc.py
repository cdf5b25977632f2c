"""Keys of `[ecc]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from typing import Literal

from reprieve.sections import Keys


class Ecc(Keys):
    """Keys of `[ecc]`.

    The error-correcting code, and what follows where it fails.
    """

    _section = "ecc"

    code: Literal["none", "ldpc"]
    """What corrects raw bit errors.

    Default: `"none"`. Only while reliability.model is power. `none`: Errors are counted as a rate,
    and harm nobody. `ldpc`: Hard decoding, read retry, soft decoding.
    """
    codeword_bytes: int
    """User data of a codeword.

    Value: an integer from 64 to 1048576. Default: `1024`. Only while ecc.code is ldpc. Source: 72
    bits per 1 KiB: Park et al., ASPLOS 2021 (unconfirmed).
    """
    code_rate: float
    """User data as a share of the codeword.

    Value: a number above 0 and at most 1. Default: `0.9`. Only while ecc.code is ldpc. Source:
    assumed.
    """
    correctable_bits: int
    """Wrong bits of a codeword that hard decoding corrects.

    Value: an integer from 0 to 1048576. Default: `72`. Only while ecc.code is ldpc. Source: 72 bits
    per 1 KiB: Park et al., ASPLOS 2021 (unconfirmed).
    """
    t_decode_min_us: float
    """Hard decoding without an error.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `1`. Only
    while ecc.code is ldpc. Source: Microsemi 2014: 1, 4 and 20 us for 1, 4 and 20 iterations of
    LDPC.
    """
    t_decode_typ_us: float
    """Hard decoding at half the limit.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `4`. Only
    while ecc.code is ldpc. Source: Microsemi 2014: 1, 4 and 20 us for 1, 4 and 20 iterations of
    LDPC.
    """
    t_decode_max_us: float
    """Hard decoding at the limit, and beyond.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `20`. Only
    while ecc.code is ldpc. Source: Microsemi 2014: 1, 4 and 20 us for 1, 4 and 20 iterations of
    LDPC.
    """
    retries_max: int
    """How often a page is sensed again, with other voltages, if hard decoding fails.

    Value: an integer from 0 to 100. Default: `8`. Only while ecc.code is ldpc. Source: assumed.
    """
    retry_rber_factor: float
    """Rate of raw bit errors of such a sense, as a share of that of the one before.

    Value: a number at least 0 and at most 1. Default: `0.7`. Only while ecc.code is ldpc. Source:
    assumed.
    """
    soft_senses: int
    """Further senses for soft decoding after the last retry; 0: there is none.

    Value: an integer from 0 to 100. Default: `2`. Only while ecc.code is ldpc. Source: assumed: one
    on each side of the last.
    """
    soft_correctable_bits: int
    """Wrong bits of a codeword that soft decoding corrects.

    Value: an integer from 0 to 1048576. Default: `108`. Only while ecc.code is ldpc. Source:
    assumed: half as many again as hard decoding.
    """
    t_soft_decode_us: float
    """Soft decoding.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `20`. Only
    while ecc.code is ldpc. Source: assumed: as long as the longest hard decoding.
    """
