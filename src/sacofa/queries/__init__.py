"""Questions to the secret log, each a value whose sensitivity is known before it is asked."""
