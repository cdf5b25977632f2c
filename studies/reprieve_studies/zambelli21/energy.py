"""Energy of a request by hand: which currents the paper's differences of power would take."""

from reprieve_studies.zambelli21.paper import TABLE_2_US, WRITE_AMPLIFICATION

CORE_V_LEAST = 2.7
"""Table 2."""
MA_LEAST = 8.0
"""The least typical current of an array in a data sheet that was found: Numonyx NAND01G, 1.8 V."""
_WORDLINE_UNITS = 12
_MORE_MW, _MORE_KIOPS = 400.0, 113.0
_WRITES = 0.25


def request_uj(ma: float, volts: float, writes: float) -> float:
    """Return the energy of the dies for a request at one current for reads and programs.

    A wordline of twelve units is programmed in a tPGM; collection reads what it moves.
    """
    mw = ma * volts
    reads = 1 - writes + writes * (WRITE_AMPLIFICATION - 1)
    programs = writes * WRITE_AMPLIFICATION / _WORDLINE_UNITS
    return mw * (reads * TABLE_2_US["tREAD"] + programs * TABLE_2_US["tPGM"]) / 1e3


def more() -> str:
    """Say what +400 mW for +113 kIOPS would take."""
    wanted = _MORE_MW / _MORE_KIOPS
    least = request_uj(MA_LEAST, CORE_V_LEAST, _WRITES)
    ma = MA_LEAST * wanted / least
    return (
        f"400 mW for 113 kIOPS are {wanted:.1f} µJ a request; 1.1 reads of 80 µs and 0.05 programs "
        f"of a wordline of 2 ms take {request_uj(25, 3.3, _WRITES):.1f} µJ at 25 mA and 3.3 V, and "
        f"{least:.1f} at the least typical current of any sheet found, {MA_LEAST:g} mA, and the "
        f"least voltage of Table 2; {wanted:.1f} µJ would take {ma:.1f} mA at {CORE_V_LEAST} V"
    )


LESS = (
    "with a fixed write amplification a request of this load takes the same reads, programs and "
    "erases with and without suspension, so its energy is the same, and a suspension adds to it; "
    "Figure 10a has more requests a second with suspension, so the power of the memories rises "
    "whatever the currents are. 1.5 W less at no more requests would be the programs of 18 dies "
    "of 82.5 mW that do not take place"
)
BUS = (
    "a bit over the bus takes half of activity × C × VDDQ²: with 1.2 to 1.8 V (Table 2) and 5 to "
    "30 pF, which no source has, a factor of 13"
)
