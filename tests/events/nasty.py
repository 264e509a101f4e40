"""Logs with names that break careless readers and writers."""

from __future__ import annotations

from hypothesis import strategies as st

from sacofa.kernel.variants import VariantCounts

NAMES = [
    "", " ", "  a ", "NA", "null", "None", "NULL", "\\N", ">>>", ">>", "a,b", "a;b", "a\tb",
    'say "x"', "'", "line\nbreak", "line\r\nbreak", "\r", "<event>", "&amp;", "&#10;", "]]>",
    "=1+1", "+a", "@x", "-1", "1", "1.0", "true", "TRACE_END", "é", "e\u0301", "日本", "😀",
    "\u2028", "\ufeff", "\x85", "#", "--", "NaN", "{}", "[1]", "a+b",
]  # fmt: skip

NOT_XML = "\ufffe\uffff"
xml_texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters=NOT_XML),
    max_size=6,
)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


def variant_counts(names: st.SearchStrategy[str]) -> st.SearchStrategy[VariantCounts]:
    """Draw variants with counts, some of them unfinished."""
    name = st.sampled_from(NAMES) | names
    part = st.dictionaries(st.lists(name, max_size=5).map(tuple), st.integers(1, 4), max_size=5)
    return st.builds(lambda done, cut: VariantCounts.of(done, truncated=cut), part, part)
