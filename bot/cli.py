"""`poolkeeper` and its commands.

Every command imports what it needs in its body, so that help and errors come at once.
"""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

app = typer.Typer(
    name="poolkeeper",
    help="Keeps GPU pools fair for teams that share a self-hosted ClearML, run from Slack.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

cgpu = typer.Typer(help="Look at the cGPU policy of the Kubernetes cluster.", no_args_is_help=True)
app.add_typer(cgpu, name="cgpu")

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


@app.command()
def apply(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="YAML; `-` reads stdin")],
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
    rename: Annotated[
        list[str] | None, typer.Option(metavar="KIND:OLD=NEW", help="say what was renamed")
    ] = None,
) -> None:
    """Provision a configuration: validate it, show what it means, and apply it when confirmed."""
    from bot import operating

    operating.apply(config, rename or [], yes=yes)


@app.command()
def export() -> None:
    """Print the configuration in force as YAML."""
    from bot import operating

    operating.export()


@app.command()
def status() -> None:
    """Show pools and policies as the last round left them."""
    from bot import operating

    operating.status()


@app.command()
def why(task: Annotated[str, typer.Argument(help="a task's id, or the beginning of it")]) -> None:
    """Say why a task waits, and what would let it start."""
    from bot import operating

    operating.why(task)


@app.command()
def enable() -> None:
    """Serve the policies' queues again."""
    from bot import operating

    operating.set_enabled(enabled=True, yes=True)


@app.command()
def disable(yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False) -> None:
    """Stop serving the policies' queues: once this returns, no further task is moved."""
    from bot import operating

    operating.set_enabled(enabled=False, yes=yes)


@app.command(name="run")
def serve() -> None:
    """Run the controller until it is told to end."""
    from bot import operating

    operating.run()


@app.command()
def manifest(
    url: Annotated[
        str, typer.Option(help="where Slack reaches the bot by HTTPS, in place of Socket Mode")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="as JSON, in place of YAML")] = False,
) -> None:
    """Print the manifest of the Slack app, to create it from or to update it with."""
    from bot import manifest as app_manifest

    print(app_manifest.as_json(url) if as_json else app_manifest.as_yaml(url), end="")


@app.command()
def agents(link: Annotated[str, typer.Argument(help="a link's name, or a part of it")]) -> None:
    """Print a link's queue id and ready-made configurations of the agents that serve it."""
    from bot import terminal_answers

    terminal_answers.agents(link)


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="as JSON, in place of lines")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="exit with 1 for a warning too")] = False,
) -> None:
    """Check settings, database, ClearML, agents, Slack, Kubernetes and clocks; change nothing."""
    from bot import doctor_lines

    doctor_lines.doctor(as_json=as_json, strict=strict)


@cgpu.command(name="status")
def cgpu_status() -> None:
    """Show the cGPU policy, how every node stands to it, and what comes next."""
    from bot import terminal_answers

    terminal_answers.cgpu_status()


@app.command()
def audit(
    contains: Annotated[
        str, typer.Argument(metavar="[WORDS]", help="what must stand in a record")
    ] = "",
    as_csv: Annotated[bool, typer.Option("--csv", help="every record, as CSV")] = False,
) -> None:
    """Print who did what, the latest first."""
    from bot import auditing

    auditing.audit(contains, as_csv=as_csv)


@app.command()
def migrate(
    to: Annotated[
        str, typer.Option("--to", metavar="URL", help="copy it all to this PostgreSQL database")
    ] = "",
) -> None:
    """Bring the database to this version's tables, or copy it from SQLite to PostgreSQL."""
    from bot import operating

    operating.migrate(to)


@app.command()
def backup(
    file: Annotated[str, typer.Argument(metavar="FILE", help="a new file, for its owner only")],
) -> None:
    """Copy the database to a file while it is in use, and verify the copy."""
    from bot import operating

    operating.backup(file)


@app.command()
def demo(
    once: Annotated[
        bool, typer.Option("--once", help="the worked example in this terminal, to its end")
    ] = False,
    port: Annotated[int, typer.Option(help="of the page; 0 takes any that is free")] = 0,
    opens: Annotated[bool, typer.Option("--open", help="open the page in the browser")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="leave the database behind and say where")
    ] = False,
) -> None:
    """Try it in the browser: a company on a sandbox ClearML, Slack and Kubernetes."""
    if once:
        from bot import demo as demonstration

        demonstration.run(keep=keep)
    else:
        from bot import playground

        playground.run(playground.Options(port=port, opens=opens, keep=keep))


def run(arguments: Sequence[str]) -> int:
    """Runs the command that `arguments` name and gives its exit code."""
    from bot.refusing import Refusal
    from storage.document_problems import DocumentError

    try:
        app(list(arguments), prog_name="poolkeeper")
    except DocumentError as error:
        from bot.offline import refuse

        return refuse(error)
    except Refusal as refusal:
        if refusal.problems:
            print(*refusal.problems, sep="\n", file=sys.stderr)
        return refusal.code
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0
    return 0
