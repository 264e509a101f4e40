"""A certificate for people who do not work with it every day.

* sections: everything that has to be stated, section by section;
* documents: the sections as an annex to an impact assessment, and as a registry record.
"""

from .documents import check_record_name, make_record, write_annex, write_record
from .sections import Deployment, Section, disclose

__all__ = [
    "Deployment",
    "Section",
    "check_record_name",
    "disclose",
    "make_record",
    "write_annex",
    "write_record",
]
