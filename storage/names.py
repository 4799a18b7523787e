"""What kind of database a URL names."""


def is_postgresql(url: str) -> bool:
    """Whether it is a server's; everything else names a file."""
    scheme, separator, _ = url.partition("://")
    return bool(separator) and scheme.startswith("postgres")
