"""One module per family of measures; all compare a release with the confidential original."""
