"""The tokens a C compiler sees: what is left of a text when comments and the words in strings are gone."""

from __future__ import annotations

import re

TRIGRAPHS = {"=": "#", "/": "\\", "'": "^", "(": "[", ")": "]", "!": "|", "<": "{", ">": "}", "-": "~"}
TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<letter>'(?:[^'\\\n]|\\.)+')
    |(?P<line>\n)
    |(?P<space>[ \t\r\f\v]+)
    |(?P<word>[A-Za-z_]\w*|\.?\d(?:[eE][+-]|[\w.])*)
    |(?P<sign>[^\s"'\\])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def tokens(source):
    """Tokens in the order of the standard: trigraphs, lines that go on, then comments, which are spaces."""
    source = re.sub(r"\?\?([=/'()!<>-])", lambda found: TRIGRAPHS[found[1]], source)
    source = re.sub(r"\\[ \t]*(?:\r\n|\n|\r)", "", source)  # compilers forgive spaces before the end of the line
    out, at, directive = [], 0, False
    while at < len(source):
        found = TOKEN.match(source, at)
        assert found, f"no token of C at {source[at : at + 40]!r}"
        at = found.end()
        if found.lastgroup in ("string", "letter"):
            out.append(found.lastgroup)
        elif found.lastgroup == "line" and directive:
            out.append("end of line")
            directive = False
        elif found.lastgroup in ("word", "sign"):
            out.append(found[0])
            directive |= found[0] == "#"  # which ends with its line
    return out


def strings(source):
    """The values of all strings, as UTF-8."""
    found = [each["string"] for each in TOKEN.finditer(source) if each["string"]]
    plain = [each[1:-1].replace("\\?", "?") for each in found]  # which Python does not know
    return [each.encode().decode("unicode_escape").encode("latin-1") for each in plain]
