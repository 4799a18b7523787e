"""`poolkeeper` and its commands.

Every command imports what it needs in its body, so that help and errors come at once.
"""

from collections.abc import Sequence

import typer

app = typer.Typer(
    name="poolkeeper",
    help="Keeps GPU pools fair for teams that share a self-hosted ClearML, run from Slack.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

# Their arguments are parsed by `bot.offline`, which `bot.__main__` starts without Typer.
_PARSED_ELSEWHERE = {"allow_extra_args": True, "ignore_unknown_options": True}


@app.command(context_settings=_PARSED_ELSEWHERE, add_help_option=False)
def plan(context: typer.Context) -> None:
    """Decide one round from a configuration and a snapshot, and print the plan as JSON."""
    from bot import offline

    raise typer.Exit(offline.plan(context.args))


@app.command(context_settings=_PARSED_ELSEWHERE, add_help_option=False)
def validate(context: typer.Context) -> None:
    """Say what is wrong with a configuration, and what to do about it."""
    from bot import offline

    raise typer.Exit(offline.validate(context.args))


def run(arguments: Sequence[str]) -> int:
    """Runs the command that `arguments` name and gives its exit code."""
    from storage.document_problems import DocumentError

    try:
        app(list(arguments), prog_name="poolkeeper")
    except DocumentError as error:
        from bot.offline import refuse

        return refuse(error)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0
    return 0
