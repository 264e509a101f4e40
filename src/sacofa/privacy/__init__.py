"""The only place where noise is drawn, and the record of every look at the log."""

from .looks import Leak, Look, Spend, total_price
from .noise import Noise
from .unit import ONE_CASE, Unit

__all__ = ["ONE_CASE", "Leak", "Look", "Noise", "Spend", "Unit", "total_price"]
