"""Write the pages of the reference into a folder: `python -m reprieve.reference docs/reference`."""

import sys
from pathlib import Path

from reprieve.outputs import replace_file
from reprieve.reference import PAGES

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, page in PAGES.items():
    replace_file(folder / name, page())
