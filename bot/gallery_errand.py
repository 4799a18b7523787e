"""`python -m bot.gallery_errand URL`: makes the gallery and gives it to the playground there.

It takes seconds, so it is a process of its own beside a page that is in use already.
"""

import os
import sys

import requests

from bot.gallery import documents

_NICE = 10


def main(url: str) -> None:
    os.nice(_NICE)
    with requests.Session() as session:
        session.trust_env = False
        session.post(f"{url}/playground/gallery", json=documents(), timeout=30).raise_for_status()


if __name__ == "__main__":
    main(sys.argv[1])
