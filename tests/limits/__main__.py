"""``python -m tests.limits``: print the page `docs/lifted-limits.md`."""

from tests.limits.page import page

if __name__ == "__main__":
    print(page(), end="")
