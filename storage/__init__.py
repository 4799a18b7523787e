"""What Poolkeeper remembers: tables, migrations, and domain values in and out."""
