"""Letters of other alphabets that look like Latin ones.

Taken from Unicode's list of confusable characters (UTS #39): letters that look like one Latin letter, and
small capitals. The packages that ship the whole list, `confusables` and `confusable-homoglyphs`, had their
last releases in 2021 and 2024.
"""

from __future__ import annotations

from collections.abc import Iterator

_LOOK_LIKE = {
    "A": "ΑАᎪᗅꓮ", "B": "ꞴΒВᏴᗷꓐ", "C": "ϹⲤСᏟꓚ", "D": "Ꭰᗞᗪꓓ", "E": "ΕЕⴹᎬꓰ",
    "F": "ꞘϜᖴꓝ", "G": "ԌᏀᏳꓖ", "H": "ΗⲎНᎻᕼꓧ", "I": "ƖΙⲒІӀӏꓲⵏᛁ∣￨", "J": "ꞲͿЈᎫᒍꓙ",
    "K": "ΚⲔКᏦꓗҚ", "L": "ⳐᏞᒪꓡ", "M": "ΜϺⲘМᎷᗰꓟ", "N": "ΝⲚꓠ", "O": "ΟⲞОՕⵔꓳ〇",
    "P": "ΡⲢРᏢᑭꓑ", "Q": "Ԛⵕ", "R": "ƦᎡᏒᖇꓣ", "S": "ЅՏᏕᏚꓢ", "T": "ΤⲦТᎢꓔ",
    "U": "Սᑌꓴ", "V": "ѴᏙᐯꓦ", "W": "ԜᎳᏔꓪ", "X": "ꞳΧⲬХⵝꓫ", "Y": "ΥϒⲨУҮᎩᎽꓬ",
    "Z": "ΖᏃꓜ", "a": "ɑαаᴀ", "b": "Ƅƅьвʙ", "c": "ᴄϲⲥсꮯ", "d": "ԁᴅ",
    "e": "℮ꬲеҽєεɛᴇ", "f": "ꬵꞙẝքꜰ", "g": "ɡᶃցɢ", "h": "һհнʜ", "i": "ıɪɩιіꙇꭵᎥ",
    "j": "ϳјᴊ", "k": "кκᴋқ", "l": "ʟ", "m": "мᴍ", "n": "ոռηпɴ",
    "o": "ᴏᴑꬽοσⲟоჿօ", "p": "ρϱⲣрᴘ", "q": "ԛգզ", "r": "ꭇꭈᴦⲅгʀ", "s": "ꜱƽѕꮪ",
    "t": "тτᴛ", "u": "ꞟᴜꭎꭒʋυս", "v": "ᴠνѵꮩ", "w": "ɯᴡѡԝաωꮃ", "x": "хχ×",
    "y": "ɣᶌʏỿꭚγуүყ", "z": "ᴢꮓ",
}  # fmt: skip
# Letters on black: circled, squared.
_ON_BLACK = (0x1F150, 0x1F170)


def _pairs() -> Iterator[tuple[int, str]]:
    for letter, others in _LOOK_LIKE.items():
        for other in others:
            yield ord(other), letter
    for first in _ON_BLACK:
        for place in range(26):
            yield first + place, chr(ord("A") + place)


LATIN: dict[int, str] = dict(_pairs())
