"""Plans of the papers' tables, one file a paper; published numbers are typed here and only here."""
