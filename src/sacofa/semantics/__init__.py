"""What makes sense for a process: rules, where they come from, and how prefixes are checked."""
