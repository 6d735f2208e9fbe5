"""Results as text: tables for people, JSON for programs. Functions of results; nothing is printed or decided here."""
