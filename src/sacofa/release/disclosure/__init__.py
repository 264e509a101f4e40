"""A certificate for people who do not work with it every day; a file per form.

* sections: everything that has to be stated, section by section;
* annex: the sections as Markdown or HTML, for an annex to an impact assessment;
* registry: the same as a record of the OpenDP deployments registry.
"""

from .annex import write_annex
from .registry import make_record, write_record
from .sections import Deployment, Section, disclose

__all__ = ["Deployment", "Section", "disclose", "make_record", "write_annex", "write_record"]
