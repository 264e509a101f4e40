"""The record of every release of a dataset, which cannot be overspent."""

from .ledger import Ledger
from .records import Account, Budget, Entry, State

__all__ = ["Account", "Budget", "Entry", "Ledger", "State"]
