"""The record of every release of a dataset, which cannot be overspent."""

from .case_key import CaseKey
from .ledger import Ledger
from .records import Account, Budget, Claim, Entry, Part, State

__all__ = ["Account", "Budget", "CaseKey", "Claim", "Entry", "Ledger", "Part", "State"]
