"""Draws the pictures of the gallery, from the code of its pages: `python docs/gallery/pictures.py`.

A picture comes from the block of code above its line in the page.
"""

import os
import re
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "pictures/gallery"
PARTS = re.compile(
    r"^```python\n(.*?)^```$|^!\[[^\]]*\]\(\.\./pictures/gallery/([\w.]+)\)$", flags=re.DOTALL | re.MULTILINE
)
# The same bytes from the same picture; text stays text.
STYLE = {"svg.hashsalt": "gallery", "svg.fonttype": "none", "font.size": 9}


def draw(page: Path, folder: Path) -> None:
    """Draw the pictures of a page into a folder, running its code in a folder of its own."""
    names: dict[str, object] = {"__name__": "page"}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as other, matplotlib.rc_context(STYLE):
        os.chdir(other)
        try:
            for code, picture in PARTS.findall(page.read_text()):
                if code:
                    plt.close("all")
                    exec(code, names)
                else:
                    plt.savefig(folder / picture, metadata={"Date": None, "Creator": None})
        finally:
            os.chdir(here)


if __name__ == "__main__":
    for path in sorted(HERE.glob("*.md")):
        if "../pictures/gallery/" in path.read_text():
            draw(path, FOLDER)
    print(
        *sorted(f"{path.name}: {path.stat().st_size / 1000:.0f} KB" for path in FOLDER.glob("*.svg")),
        sep="\n",
    )
