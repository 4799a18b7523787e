"""A person at the editor, for tests: what they see and do there, waiting for what the bot shows."""

from dataclasses import dataclass

from tests.bot_support import Bot
from tests.sandbox_support import PATIENCE
from tests.slack_support import Message, View


@dataclass(frozen=True)
class Desk:
    """One person with the editor open. Every deed waits until the bot has answered it."""

    bot: Bot
    person: str
    root: str

    @property
    def window(self) -> View:
        """The editor's own window, at the bottom of the stack."""
        return next(one for one in self.bot.person(self.person).views() if one.id == self.root)

    @property
    def top(self) -> View:
        return self.bot.person(self.person).views()[-1]

    @property
    def plain(self) -> str:
        return self.window.plain

    def sees(self, text: str, timeout: float = PATIENCE) -> str:
        """What the window shows once this is in it."""

        def found() -> str:
            return self.plain if text in self.plain else ""

        return self.bot.slack.wait_for(found, text, timeout, lambda: self.plain)

    def press(self, what: str, near: str = "", sees: str = "") -> "Desk":
        """Presses something in the window, and waits until it shows something else."""
        before = self.window.doc["n"]
        self.window.press(what, near)
        changed = lambda: self.window.doc["n"] > before and sees in self.plain  # noqa: E731
        self.bot.slack.wait_for(changed, f"{what}: {sees}", instead=lambda: self.plain)
        return self

    def form(self, what: str, near: str = "") -> View:
        """Presses something that puts a form on top."""
        return self.window.press(what, near).view()

    def create(self, kind: str, **fields: str) -> "Desk":
        """Adds a pool, profile or policy and comes to its page."""
        form = self.form(f"Add a {kind}")
        fill(form, fields)
        assert form.submit() is None, form.now()
        self.sees(f"*`{fields['name']}`*")
        return self

    def open(self, name: str, tab: str = "") -> "Desk":
        """Opens the page of something that is listed."""
        if tab:
            label = next(
                line for line in _labels(self.window) if line.removeprefix("▸ ").startswith(tab)
            )
            self.press(label, sees=f"▸ {tab}")
        return self.press("Open", near=f"`{name}`", sees=f"*`{name}`*")

    def connect(self, other: str, label: str) -> "Desk":
        """Connects what is shown with something else."""
        button = next(line for line in _labels(self.window) if line.startswith("Connect a"))
        form = self.form(button)
        field = button.removeprefix("Connect a ").capitalize()
        form.choose(field, other, typed=other[:3])
        form.fill("label", label)
        assert form.submit() is None, form.now()
        self.sees(f"`{label}`")
        return self

    def save(self) -> str:
        """Presses the window's Save, and gives what it shows then."""
        assert self.window.submit() is None
        return self.plain


def opened(bot: Bot, person: str = "U_ADA", what: str = "edit") -> Desk:
    """The editor that `/pool edit` opens."""
    view = bot.says(person, what).view()
    return Desk(bot, person, view.id)


def fill(form: View, fields: dict[str, str]) -> None:
    for block, value in fields.items():
        form.fill(block, value)


def said(bot: Bot, person: str, line: str, containing: str = "") -> Message:
    """The answer to a command."""
    return bot.says(person, line).reply(containing)


def _labels(view: View) -> list[str]:
    return [
        element["text"]["text"]
        for block in view.blocks
        for element in block.get("elements", [])
        if element.get("type") == "button"
    ]
