"""The time while the command loads: an interrupt ends it without a word until `main` hears it."""

import signal
import sys

if (
    sys.argv[:1] != []
    and sys.argv[0].endswith("/reprieve")
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
