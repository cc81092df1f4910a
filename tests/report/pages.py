"""Pages read back: balanced tags, attributes, words, tables."""

from __future__ import annotations

import base64
import hashlib
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "link", "input", "wbr"}


class Balanced(HTMLParser):
    """Fails on a tag that is not closed, and collects what is there."""

    def __init__(self):
        super().__init__()
        self.open, self.attributes, self.words, self.headings, self.rows = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag in ("h1", "h2", "h3"):
            self.headings.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        elif self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings[-1] += data

    @property
    def text(self):
        return "".join(self.words)

    def row(self, first):
        """The first table row whose first cell is this."""
        return next(row for row in self.rows if row and row[0] == first)


def read(page):
    """A page that is whole, loads nothing, and runs nothing."""
    parser = Balanced()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    for tag, name, value in parser.attributes:
        assert not name.startswith("on"), (tag, name)
        if name == "src" and value.startswith("data:image/svg+xml;base64,"):
            _check_svg(base64.b64decode(value.partition(",")[2]))
            continue
        assert name not in ("src", "href", "xlink:href", "action") or value.startswith("data:image/png;base64,")
    assert "@import" not in page and "url(" not in page and "<iframe" not in page
    assert "<script" not in page
    if "<!doctype" in page:
        _check_policy(page, parser)
    return parser


def _check_svg(content):
    """A picture is whole, and refers to nothing but its own parts and images inside of it."""
    for element in ElementTree.fromstring(content).iter():
        assert element.tag.rpartition("}")[2] not in ("script", "foreignObject", "a")
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            if name.rpartition("}")[2] == "href":
                assert value.startswith(("#", "data:image/png;base64,"))


def _check_policy(page, parser):
    """The policy allows exactly the page's own styles, and no style attributes stand against it."""
    policy = next(
        value for tag, name, value in parser.attributes if (tag, name) == ("meta", "content") and "src" in value
    )
    assert policy.startswith(
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'sha256-"
    )
    inline = re.findall(r"<style>(.*?)</style>", page, flags=re.S)
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in inline]
    assert re.findall("'sha256-([^']+)'", policy) == digests
    assert not [tag for tag, name, _ in parser.attributes if name == "style"]
