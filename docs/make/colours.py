"""Choose colours for activities: told apart by most eyes, readable on light and dark pages.

    python docs/make/colours.py

writes them to src/sacofa/report/templates/colours.txt, each line one colour on a light page, under
white text, and on a dark page, under black text.

Colours are picked one after the other, each as far as possible from those before, so that the
first activities get the clearest ones. Distance is that of OKLab (Ottosson 2020), the smallest of
three: as most people see it, and as people without red or green cones do (the matrices of Machado,
Oliveira and Fernandes 2009). The latter two count double: held to the same distance, everybody
would get browns and greys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TARGET = Path(__file__).parents[2] / "src" / "sacofa" / "report" / "templates" / "colours.txt"

Floats = NDArray[np.float64]

CONTRAST = 4.5
"""The least contrast of text on its colour, and of the colour on its page (WCAG AA)."""
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#16181d"
LIGHT_INK, DARK_INK = "#ffffff", "#16181d"
"""The text on the colours of a light page, and on those of a dark one."""

_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_WEIGHTS = np.array([1.0, 2.0, 2.0])
_EYES = np.array(
    [
        np.eye(3),
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ]
)
_HUES = range(255, 255 + 360, 10)
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


@dataclass(frozen=True, kw_only=True)
class Colour:
    """The colour of one activity."""

    light: str
    """On a light page, under white text."""
    dark: str
    """On a dark page, under black text."""


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, as WCAG defines it."""
    return float(_contrasts([one], other)[0])


def _contrasts(colours: list[str], other: str) -> Floats:
    """The contrast ratio of each colour with another one."""
    *own, its = _linear(_rgb([*colours, other])) @ _LUMINANCE
    ratios: Floats = (np.maximum(own, its) + 0.05) / (np.minimum(own, its) + 0.05)
    return ratios


def choose_colours() -> list[Colour]:
    """Choose colours until no other can be told apart."""
    candidates, places = _candidates()
    chosen = [0]
    nearest = _distance(places, places[:, 0])
    while nearest.max() > 0:
        best = int(np.argmax(nearest))
        chosen.append(best)
        nearest = np.minimum(nearest, _distance(places, places[:, best]))
    return [candidates[i] for i in chosen]


def _distance(places: Floats, place: Floats) -> Floats:
    """The smallest distance over both pages and all eyes."""
    apart: Floats = np.linalg.norm(places - place[:, None], axis=2).min(axis=0)
    return apart


@lru_cache(maxsize=1)
def _candidates() -> tuple[tuple[Colour, ...], Floats]:
    """All colours with enough contrast, and where each lies for every page and eye."""
    grid = np.meshgrid(
        (0.54, 0.44, 0.34, 0.58, 0.49, 0.39), (0.85, 0.5, 0.25), _HUES, indexing="ij"
    )
    lightness, share, hue = (axis.ravel() for axis in grid)
    light = _from_oklch(lightness, share, hue)
    # Dark on the light page is bright on the dark one, and the other way round.
    dark = _from_oklch(1.26 - lightness, share, hue)
    pairs = ((light, LIGHT_PAGE), (light, LIGHT_INK), (dark, DARK_PAGE), (dark, DARK_INK))
    readable = np.min([_contrasts(*pair) for pair in pairs], axis=0) >= CONTRAST
    colours = [Colour(light=light[i], dark=dark[i]) for i in np.flatnonzero(readable)]
    places = [_seen([getattr(c, page) for c in colours]) for page in ("light", "dark")]
    return tuple(colours), np.concatenate(places)


def _seen(colours: list[str]) -> Floats:
    """Where colours lie in OKLab, for each kind of eye."""
    linear = _linear(_rgb(colours))
    kinds = np.clip(np.einsum("kij,nj->kni", _EYES, linear), 0, 1)
    lab: Floats = np.cbrt(kinds @ _TO_LMS.T) @ _TO_LAB.T * _WEIGHTS[:, None, None]
    return lab


def _from_oklch(lightness: Floats, share: Floats, hue: Floats) -> list[str]:
    """Colours at places of OKLCH as #rrggbb, with a share of the strongest chroma there."""
    angle = np.deg2rad(hue)
    chroma = share[:, None] * np.arange(0.18, 0, -0.005)
    parts = (lightness[:, None], chroma * np.cos(angle)[:, None], chroma * np.sin(angle)[:, None])
    lms = np.stack(np.broadcast_arrays(*parts), axis=2) @ np.linalg.inv(_TO_LAB).T
    linear = lms**3 @ np.linalg.inv(_TO_LMS).T
    inside = np.all((linear >= 0) & (linear <= 1), axis=2)
    strongest = np.where(inside.any(axis=1), inside.argmax(axis=1), chroma.shape[1] - 1)
    linear = np.clip(linear[np.arange(len(hue)), strongest], 0, 1)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return ["#" + "".join(f"{round(part * 255):02x}" for part in row) for row in curved.tolist()]


def _rgb(colours: list[str]) -> Floats:
    return np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colours])


def _linear(rgb: Floats) -> Floats:
    curved: Floats = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return curved


if __name__ == "__main__":
    lines = [f"{colour.light} {colour.dark}\n" for colour in choose_colours()]
    TARGET.write_text("".join(lines), encoding="utf-8")
