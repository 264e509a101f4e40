"""`sacofa ledger`: budgets of datasets, and every release that was made of them."""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from ..base.epsilon import parse_epsilon
from ..base.files import check_apart, check_target, write_whole
from ..errors import SettingError, plain
from ..ledger import Account, Entry, Ledger
from ..ledger.policy import Policy, policy_path
from ..release.keys import read_private_key
from ..release.sign_ledger import sign_ledger, verify_ledger
from . import options
from .grouped import CommandList
from .key import TrustedFolder, TrustedKey, ask_passphrase, trusted_keys
from .show import to_json
from .sign import SigningKey

UNLIMITED = "unlimited"

FilePath = Annotated[Path, typer.Argument(help="The ledger.", metavar="LEDGER")]

STATES = {
    "released": "released",
    "reserved": "spent, nothing released (it died, or is still running)",
    "failed": "spent, nothing released (it failed)",
    "returned": "not spent (it failed before the mechanism asked the log anything)",
}
"""What became of a release, in plain words."""

commands = typer.Typer(
    cls=CommandList,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Set budgets of datasets, and show what was spent on which release.",
)


@commands.command()
def budget(
    ledger: FilePath,
    dataset: Annotated[str, typer.Argument(help="The name of the dataset.", metavar="DATASET")],
    epsilon: Annotated[
        str,
        typer.Argument(
            help=f"What all its releases may cost together: 1, 0.5, 1/3, or {UNLIMITED}.",
            metavar="EPSILON",
        ),
    ],
) -> None:
    """Set the lifetime budget of a dataset; a ledger that does not exist is made."""
    limit = None if epsilon == UNLIMITED else parse_epsilon("budget", epsilon, None)
    account = Ledger.create(ledger).set_budget(dataset, limit)
    typer.echo(say_account(account))


@commands.command()
def show(
    ledger: FilePath,
    as_json: options.Json = False,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", help="Also draw what was spent over time: .svg or .html."),
    ] = None,
    force: options.Force = False,
) -> None:
    """Show how every dataset stands: its budget, what was spent when, and what is left."""
    from ..report.spending import bars, draw_spending, read_spending, spending_page

    if picture is not None:
        if picture.suffix not in (".svg", ".html"):
            raise SettingError("picture", picture, "a file that ends in .svg or .html")
        check_target(picture, force)
        check_apart({"the picture": picture}, {"the ledger": ledger})
    opened = Ledger.open(ledger)
    opened.check()
    accounts = opened.accounts()
    spendings = read_spending(opened)
    if picture is not None:
        with write_whole(picture, force) as part:
            drawn = (
                draw_spending(spendings)
                if picture.suffix == ".svg"
                else spending_page(spendings, ledger.name)
            )
            part.write_text(drawn, encoding="utf-8")
    if as_json:
        typer.echo(json.dumps({"datasets": [_account(account) for account in accounts]}, indent=2))
        return
    for spending in spendings:
        typer.echo(say_account(spending.account))
        for line in bars(spending):
            typer.echo(line)
    if not accounts:
        typer.echo("no dataset yet: sacofa ledger budget LEDGER DATASET EPSILON")


@commands.command()
def policy(ledger: FilePath) -> None:
    """Show the policy of a ledger: LEDGER.policy.toml, which every release from it obeys."""
    opened = Ledger.open(ledger)
    policies = opened.policies()
    if policies is None:
        typer.echo(f"there is no policy: write one to {plain(str(policy_path(opened.path)))}")
        return
    typer.echo(f"every dataset: {say_policy(policies.general)}")
    for dataset, own in sorted(policies.own.items()):
        typer.echo(f"{plain(dataset)}: {say_policy(own)}")


def say_policy(policy: Policy) -> str:
    """A policy in a line."""
    said = []
    if policy.largest_release is not None:
        said.append(f"a release costs ε = {policy.largest_release} at most")
    if policy.largest_year is not None:
        said.append(f"a year ε = {policy.largest_year}")
    if policy.who is not None:
        said.append(f"released by {plain(', '.join(policy.who) or 'nobody')} only")
    return ", ".join(said) or "no limits"


@commands.command()
def history(
    ledger: FilePath,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Only releases of this dataset.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show every release that was asked for and paid, whatever became of it."""
    opened = Ledger.open(ledger)
    opened.check()
    entries, budgets = opened.entries(dataset), opened.budgets(dataset)
    if as_json:
        limits = [{**asdict(b), "epsilon": _limit(b.epsilon)} for b in budgets]
        content = {"releases": [_entry(entry) for entry in entries], "budgets": limits}
        typer.echo(to_json(content, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("", "when (UTC)", "dataset", "mechanism", "ε", "what became of it", "file"):
        table.add_column(heading, overflow="fold")
    rows = [
        (b.at, 0, ["", _minute(b.at), b.dataset, "", _limit(b.epsilon), "budget set", ""])
        for b in budgets
    ]
    rows += [(e.at, e.id, _row(e)) for e in entries]
    for _, _, row in sorted(rows, key=lambda row: row[:2]):
        table.add_row(*map(plain, row))
    Console(highlight=False, markup=False, emoji=False).print(table)


@commands.command()
def sign(ledger: FilePath, key: SigningKey) -> None:
    """Sign a ledger as it stands, in LEDGER.signature.json."""
    signer = read_private_key(key, ask_passphrase)
    written = sign_ledger(Ledger.open(ledger), signer)
    typer.echo(f"{plain(str(written))}: signed with {plain(signer.public.name)}")


@commands.command()
def verify(ledger: FilePath, key: TrustedKey = None, trusted: TrustedFolder = None) -> None:
    """Check every row of a ledger, and with a key that what was signed still stands in it."""
    opened = Ledger.open(ledger)
    opened.check()
    typer.echo(f"{plain(str(ledger))}: every row fits the others")
    if keys := trusted_keys(key, trusted):
        signed = verify_ledger(opened, keys)
        typer.echo(
            f"signed by {plain(signed.signer)} on {_minute(signed.signed_at)} UTC: "
            f"releases that are as they were: {signed.releases}, added since: {signed.since}"
        )


def say_account(account: Account) -> str:
    """How a dataset stands, in a line."""
    spent = "more than any ε (one release had none)" if account.spent is None else account.spent
    left = "no limit" if account.left is None else f"{account.left} left"
    return f"{plain(account.dataset)}: ε = {spent} spent of {_limit(account.budget)}, {left}"


def _row(entry: Entry) -> list[str]:
    again = f", repeats {entry.repeats}" if entry.repeats is not None else ""
    reason = f": {entry.reason}" if entry.reason is not None else ""
    return [
        str(entry.id),
        _minute(entry.at),
        entry.dataset,
        entry.mechanism,
        _price(entry.price),
        STATES[entry.state] + reason + again,
        entry.file or ("passed on" if entry.state == "released" else ""),
    ]


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")


def _price(price: Fraction | None) -> str:
    return "none finite" if price is None else str(price)


def _limit(epsilon: Fraction | None) -> str:
    return UNLIMITED if epsilon is None else str(epsilon)


def _account(account: Account) -> dict[str, Any]:
    periods = {period: _price(spent) for period, spent in sorted(account.in_periods.items())}
    return {
        "dataset": account.dataset,
        "budget": _limit(account.budget),
        "spent": _price(account.spent),
        "left": _limit(account.left),
        **({"periods": periods} if periods else {}),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        **asdict(entry),
        "price": _price(entry.price),
        "spent": entry.spent,
        "settings": _content(entry.settings),
        "certificate": _content(entry.certificate),
    }


def _content(text: str) -> Any:
    """Read JSON; what is none, in a ledger that a stranger made, is shown as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(commands, name="ledger")
