"""`sacofa ledger`: budgets of datasets and the releases that spent them."""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from ..base.epsilon import LARGEST_DELTA, parse_epsilon
from ..base.files import check_apart, check_target, write_text
from ..errors import SettingError, Statement
from ..ledger import Account, Entry, Ledger
from ..ledger.policy import Policy, policy_path
from ..release.keys import read_private_key
from ..release.sign import sign_ledger, verify_ledger
from .certificates import SigningKey, TrustedFolder, TrustedKey, ask_passphrase, trusted_keys
from .options import Force, Json, make_group
from .show import say, show_table, to_json

UNLIMITED = "unlimited"

FilePath = Annotated[Path, typer.Argument(help="The ledger.", metavar="LEDGER")]

ledger = make_group("Set budgets of datasets, and show what was spent on which release.")


@ledger.command()
def budget(
    ledger: FilePath,
    dataset: Annotated[str, typer.Argument(help="The name of the dataset.", metavar="DATASET")],
    epsilon: Annotated[
        str,
        typer.Argument(
            help=f"Privacy budget of all its releases: 1, 0.5, 1/3, or {UNLIMITED}.",
            metavar="EPSILON",
        ),
    ],
    delta: Annotated[
        str,
        typer.Option(
            help="δ of the budget, such as 1e-6. The budget is then in ρ, and takes releases with "
            "a δ as well. Default: 0, pure ε.",
            metavar="NUMBER",
        ),
    ] = "0",
) -> None:
    """Set the lifetime budget of a dataset. Creates the ledger if it does not exist."""
    limit = None if epsilon == UNLIMITED else parse_epsilon("budget", epsilon, None)
    exact = parse_epsilon("delta", delta, LARGEST_DELTA, may_be_zero=True)
    say(_account(Ledger.create(ledger).set_budget(dataset, limit, exact)))


@ledger.command()
def show(
    ledger: FilePath,
    as_json: Json = False,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw what was spent over time: .svg or .html.")
    ] = None,
    force: Force = False,
) -> None:
    """Show every dataset: its budget, what was spent when, and what is left."""
    from ..report.spending import bars, draw_spending, read_spending

    if picture is not None:
        if picture.suffix not in (".svg", ".html"):
            raise SettingError("picture", picture, Statement("must.suffix", suffix=".svg, .html"))
        check_target(picture, force)
        check_apart({"the picture": picture}, {"the ledger": ledger})
    spendings = read_spending(_opened(ledger))
    if picture is not None:
        title = ledger.name if picture.suffix == ".html" else None
        write_text(picture, draw_spending(spendings, title), force)
    if as_json:
        datasets = [_content(spending.account) for spending in spendings]
        typer.echo(json.dumps({"datasets": datasets}, indent=2))
        return
    for spending in spendings:
        say(_account(spending.account))
        for line in bars(spending):
            say(line)
    if not spendings:
        say(Statement("cli.ledger.empty"))


def _opened(path: Path) -> Ledger:
    """A ledger whose rows were checked."""
    opened = Ledger.open(path)
    opened.check()
    return opened


def _account(account: Account) -> Statement:
    """How a dataset stands, in a line."""
    values: dict[str, object] = {
        "dataset": account.dataset,
        "budget": UNLIMITED if account.budget is None else account.number(account.budget),
        "left": Statement("cli.ledger.no_limit"),
    }
    if account.left is not None:
        values["left"] = Statement("cli.ledger.left", epsilon=account.number(account.left))
    if account.spent is None:
        return Statement("cli.ledger.infinite_account", **values)
    return Statement("cli.ledger.account", spent=account.say(account.spent), **values)


def _content(account: Account) -> dict[str, object]:
    """The same as JSON has it: in ε, and in ρ if that is the currency."""
    amounts = {"budget": account.budget, "spent": account.spent, "left": account.left}

    def in_epsilon(name: str, amount: Fraction | None) -> str:
        if amount is None:
            return _epsilon(None) if name == "spent" else UNLIMITED
        return str(account.epsilon(amount, fits=name != "spent"))

    periods = sorted(account.in_periods.items())
    found: dict[str, object] = {"dataset": account.dataset}
    found |= {name: in_epsilon(name, amount) for name, amount in amounts.items()}
    if periods:
        found["periods"] = {name: in_epsilon("spent", amount) for name, amount in periods}
    if account.delta:
        exact = {name: None if value is None else str(value) for name, value in amounts.items()}
        found |= {"delta": str(account.delta), "rho": exact}
    return found


@ledger.command()
def policy(ledger: FilePath) -> None:
    """Show the policy of a ledger: LEDGER.policy.toml, which every release from it obeys."""
    opened = Ledger.open(ledger)
    policies = opened.policies()
    if policies is None:
        say(Statement("cli.ledger.no_policy", path=str(policy_path(opened.path))))
        return
    say(Statement("cli.ledger.general_policy", limits=_limits(policies.general)))
    for dataset, own in sorted(policies.own.items()):
        say(Statement("cli.ledger.policy", dataset=dataset, limits=_limits(own)))


def _limits(policy: Policy) -> Statement:
    """The limits of a policy."""
    limits = []
    for name in ("largest_release", "largest_year"):
        if (epsilon := getattr(policy, name)) is not None:
            limits.append(Statement(f"cli.ledger.{name}", epsilon=str(epsilon)))
    if policy.largest_delta:
        limits.append(Statement("cli.ledger.largest_delta", delta=policy.largest_delta))
    if policy.who:
        limits.append(Statement("cli.ledger.who", names=tuple(policy.who)))
    elif policy.who is not None:
        limits.append(Statement("cli.ledger.nobody"))
    listed = Statement("columns.listed", names=tuple(limits))
    return listed if limits else Statement("cli.ledger.no_limits")


@ledger.command()
def history(
    ledger: FilePath,
    dataset: Annotated[str | None, typer.Option(help="Only releases of this dataset.")] = None,
    as_json: Json = False,
) -> None:
    """Show every release that was requested and paid for, with its result."""
    opened = _opened(ledger)
    entries, budgets = opened.entries(dataset), opened.budgets(dataset)
    if as_json:
        releases = [
            {
                **asdict(entry),
                "price": _epsilon(entry.price),
                "delta": str(entry.delta),
                "rho": None if entry.rho is None else str(entry.rho),
                "selection": str(entry.selection),
                "spent": entry.spent,
                "settings": _parsed(entry.settings),
                "certificate": _parsed(entry.certificate),
            }
            for entry in entries
        ]
        limits = [
            {
                **asdict(each),
                "epsilon": _limit(each.epsilon),
                "delta": str(each.delta),
                "rho": None if each.rho is None else str(each.rho),
            }
            for each in budgets
        ]
        typer.echo(to_json({"releases": releases, "budgets": limits}, indent=2))
        return
    set_to = str(Statement("cli.ledger.budget_set"))
    rows = [
        ((b.at, 0), ["", _minute(b.at), b.dataset, "", _claimed(b.epsilon, b.delta), set_to, ""])
        for b in budgets
    ]
    rows += [((each.at, each.id), _row(each)) for each in entries]
    show_table([row for _, row in sorted(rows, key=lambda keyed: keyed[0])], "cli.ledger.columns")


def _row(entry: Entry) -> list[str]:
    """A release as a row of a table."""
    result, file = str(Statement(f"ledger_state.{entry.state}")), entry.file or ""
    if entry.reason is not None:
        result += f": {entry.reason}"
    if entry.repeats is not None:
        result += str(Statement("cli.ledger.repeats", id=entry.repeats))
    if entry.file is None and entry.state == "released":
        file = str(Statement("cli.ledger.passed_on"))
    epsilon, at = _claimed(entry.price, entry.delta, ""), _minute(entry.at)
    return [str(entry.id), at, entry.dataset, entry.mechanism, epsilon, result, file]


@ledger.command()
def sign(ledger: FilePath, key: SigningKey) -> None:
    """Sign a ledger as it stands, in LEDGER.signature.json."""
    signer = read_private_key(key, ask_passphrase)
    written = sign_ledger(Ledger.open(ledger), signer)
    say(Statement("cli.key.signed", path=str(written), signer=signer.public.name))


@ledger.command()
def verify(ledger: FilePath, key: TrustedKey = None, trusted: TrustedFolder = None) -> None:
    """Check every row of a ledger and, with a key, that signed rows did not change."""
    opened = _opened(ledger)
    say(Statement("cli.ledger.whole", path=str(ledger)))
    if keys := trusted_keys(key, trusted):
        signed = verify_ledger(opened, keys)
        values = {"signer": signed.signer, "releases": signed.releases, "since": signed.since}
        say(Statement("cli.ledger.signed", at=_minute(signed.signed_at), **values))


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")


def _epsilon(epsilon: Fraction | None) -> str:
    return str(Statement("cli.ledger.none_finite")) if epsilon is None else str(epsilon)


def _claimed(epsilon: Fraction | None, delta: Fraction, none: str = UNLIMITED) -> str:
    """An ε, with its δ if there is one."""
    if epsilon is None:
        return none or _epsilon(None)
    return f"{epsilon}, {Statement('claim.delta', delta=delta)}" if delta else str(epsilon)


def _limit(epsilon: Fraction | None) -> str:
    return UNLIMITED if epsilon is None else str(epsilon)


def _parsed(text: str) -> object:
    """Parse JSON. A ledger from somebody else may contain other text, returned unchanged."""
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return content
