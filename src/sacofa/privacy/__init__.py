"""The only place where noise is drawn, and the record of every access to the log."""

from .accounting import Access, Leak, Spend, total_epsilon
from .epsilon import Epsilon, parse_epsilon
from .noise import Noise

__all__ = ["Access", "Epsilon", "Leak", "Noise", "Spend", "parse_epsilon", "total_epsilon"]
