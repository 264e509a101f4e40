"""Rules from models."""
