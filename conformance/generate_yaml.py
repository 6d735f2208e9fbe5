"""Random YAML texts that ask what a scalar, an anchor or a merge means; JSON strings, one a line.

python -m conformance.generate_yaml --count 1500 --seed 1
"""

from __future__ import annotations

import argparse
import json
from random import Random

SCALARS = (
    "y n yes no on off true FALSE null ~ '' 0 1 -1 +1 012 08 0x1F -0x1f 0b11 -0b11 0o17 1_000 1_0.5 .5 5. 1e3 1E+3 "
    "1e-7 1e400 . - -- 1.2.3 12:30 12:30:45 2001-01-01 2001-12-14t21:59:43.10-05:00 2001-1-1 9223372036854775807 "
    '9223372036854775808 18446744073709551615 18446744073709551616 -9223372036854775809 "x" \'y\' "1" 1.0 100m 0.1 '
    "+.5 -.5 0x 0b 0b2 1__2 _1 1_ 0_7 0777777 1.5e3 123456789.5 foo foo-bar !!str·5 !!int·5 !!float·5 !!int·x !foo·5 "
    "!·5 !!binary·aGk= !!bool·yes !!null·'' !!timestamp·2001-01-01 << = 0. 00 -0 +0 0e0 -0.0 1e21 1e20 a·b 0o8 0XAB "
    "0B1 0O7 1e 1e+ .e1 +- +1_0 -0777 -08 .5_0 .5_ ._5 .5e1_0 .1.2 .5__0 0x_1 0_x1 !!int·0x1F !!float·1.5 !!float·x "
    "!!bool·1 '<<' \"a\\nb\" 'null' \"~\""
)
ATOMS = [word.replace("·", " ") for word in SCALARS.split()]
"""Scalars of every kind; in the list above · stands for a space."""

ANCHORS = "abc"


class Texts:
    """Draws texts; every anchor drawn so far may be repeated."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.anchors: list[str] = []

    def document(self) -> str:
        """A mapping with one key."""
        self.anchors = []
        return f"k: {self.node(3)}"

    def node(self, levels: int) -> str:
        """A scalar, alias, sequence or mapping."""
        draw = self.random
        if levels == 0 or draw.random() < 0.5:
            return self.leaf()
        name = draw.choice(ANCHORS) if draw.random() < 0.2 else ""
        anchor = f"&{name} " if name else ""
        if draw.random() < 0.4:
            text = ", ".join(self.node(levels - 1) for _ in range(draw.randint(0, 3)))
            text = f"{anchor}[{text}]"
        else:
            keys = ["<<", "<<", "'a'", "b", "c", draw.choice(ATOMS)]
            text = ", ".join(f"{draw.choice(keys)}: {self.node(levels - 1)}" for _ in range(draw.randint(0, 3)))
            text = f"{anchor}{{{text}}}"
        self.anchors += [name] if name else []
        return text

    def leaf(self) -> str:
        """A scalar, perhaps with an anchor, or an alias."""
        draw = self.random
        if self.anchors and draw.random() < 0.15:
            return "*" + draw.choice(self.anchors)
        text = draw.choice(ATOMS)
        if draw.random() < 0.1:
            self.anchors.append(draw.choice(ANCHORS))
            return f"&{self.anchors[-1]} {text}"
        return text


def main() -> None:
    """Print each scalar in each role, then random documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    texts = Texts(given.seed)
    for word in ATOMS:
        for text in (word, f"{{{word}: 1}}", f"x: {word}"):
            print(json.dumps(text))
    for _ in range(given.count):
        print(json.dumps(texts.document()))


if __name__ == "__main__":
    main()
