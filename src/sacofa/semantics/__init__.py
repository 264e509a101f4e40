"""What makes sense for a process: rules, where they come from, and how prefixes are checked."""

from .file import read_rules, write_rules
from .learn import learn_rules
from .rules import Rules

__all__ = ["Rules", "learn_rules", "read_rules", "write_rules"]
