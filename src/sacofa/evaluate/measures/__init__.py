"""One module for each family of measures; all compare a release with the secret original."""
