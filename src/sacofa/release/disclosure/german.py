"""The sentences of certificates in German.

Certificates are written in English, and their sentences are few. Each has a line here; what is
between them (names, numbers, what a person said) stays as it is.
"""

from __future__ import annotations

import re

_LEVELS = (
    ("belongs to cases", "zu Fällen gehört"),
    ("belongs to events", "zu Ereignissen gehört"),
)
_TYPES = (
    ("is yes or no", "Ja oder Nein ist"),
    ("is a number", "eine Zahl ist"),
    ("is a date", "ein Datum ist"),
    ("is text", "Text ist"),
)
TAKEN = (
    *_LEVELS,
    *_TYPES,
    *((f"{a} and {b}", f"{c} und {d}") for a, c in _LEVELS for b, d in _TYPES),
)
"""What may be taken from the cases of a log about an attribute."""

PERSONAL = (
    ("names of persons", "Namen von Personen"),
    ("birth dates", "Geburtsdaten"),
    ("contact details", "Kontaktdaten"),
    ("addresses", "Adressen"),
    ("free text", "Freitext"),
    ("identifiers of persons", "Kennungen von Personen"),
)
"""What an attribute may look like."""

DOMAINS = (
    ("{#} categories", "{#} Kategorien"),
    ("yes or no", "Ja oder Nein"),
    ("numbers in {#} public bins", "Zahlen in {#} öffentlichen Klassen"),
    ("{#} bins from {} to {}", "{#} Klassen von {} bis {}"),
)
"""What is declared of the values of an attribute."""

PAIRS: tuple[tuple[str, str], ...] = (
    # What is protected.
    (
        "one case: whether it is in the log, and everything that happened in it",
        "ein Fall: ob er im Protokoll vorkommt, und alles, was in ihm geschehen ist",
    ),
    (
        "one person (column {}) in one period, with at most {#} case[s] there: whether they are "
        "in the log of that period, and everything that happened in these cases",
        "eine Person (Spalte {}) in einem Zeitraum, mit höchstens {#} Fällen darin: ob sie im "
        "Protokoll dieses Zeitraums vorkommt, und alles, was in diesen Fällen geschehen ist",
    ),
    (
        "one person (column {}) with at most {#} case[s]: whether they are in the log, and "
        "everything that happened in these cases",
        "eine Person (Spalte {}) mit höchstens {#} Fällen: ob sie im Protokoll vorkommt, und "
        "alles, was in diesen Fällen geschehen ist",
    ),
    (
        "Two logs are neighbours if adding or removing one case turns one into the other.",
        "Zwei Protokolle sind benachbart, wenn eines aus dem anderen entsteht, indem ein Fall "
        "hinzukommt oder wegfällt.",
    ),
    (
        "Two logs are neighbours if adding or removing one person, with all cases of that person, "
        "turns one into the other.",
        "Zwei Protokolle sind benachbart, wenn eines aus dem anderen entsteht, indem eine Person "
        "mit allen ihren Fällen hinzukommt oder wegfällt.",
    ),
    (
        "Two logs are neighbours if adding or removing the cases of one person that were "
        "completed in one period turns one into the other.",
        "Zwei Protokolle sind benachbart, wenn eines aus dem anderen entsteht, indem die in einem "
        "Zeitraum abgeschlossenen Fälle einer Person hinzukommen oder wegfallen.",
    ),
    (
        "Whether a {w} is in the log changes the probability of any release by a factor of at "
        "most e^{#}. Two courses of events of the same {w} change it by at most e^{#}. This holds "
        "against everyone who cannot predict the output of the cryptographic generator that the "
        "noise is drawn from.",
        "Ob die Schutzeinheit im Protokoll vorkommt, ändert die Wahrscheinlichkeit jeder "
        "möglichen Veröffentlichung höchstens um den Faktor e^{2}. Zwei verschiedene Verläufe "
        "derselben Einheit ändern sie höchstens um e^{4}. Das gilt gegenüber allen, die die "
        "Ausgabe des kryptographischen Zufallsgenerators nicht vorhersagen können.",
    ),
    (
        "None: something was read off the log without payment.",
        "Keine: Etwas wurde unbezahlt aus dem Protokoll gelesen.",
    ),
    (
        "None: whoever knows the seed can draw the noise again.",
        "Keine: Wer den Startwert kennt, kann das Rauschen erneut ziehen.",
    ),
    # Assumptions.
    (
        "A case belongs to one person: the first value of {} in the case that is not blank. A "
        "case without any is a person of its own.",
        "Ein Fall gehört einer Person: dem ersten nicht leeren Wert von {} im Fall. Ein Fall ohne "
        "solchen gilt als eigene Person.",
    ),
    (
        "The names of the activities are public; they were taken from the log.",
        "Die Namen der Aktivitäten sind öffentlich; sie wurden dem Protokoll entnommen.",
    ),
    (
        "The values of {} are public; they were taken from the log.",
        "Die Werte von {} sind öffentlich; sie wurden dem Protokoll entnommen.",
    ),
    *(
        (
            f"The values of {{}} are public: {english}.",
            f"Die Werte von {{}} sind öffentlich: {german}.",
        )
        for english, german in DOMAINS
    ),
    (
        "Which of day and month comes first in time stamps such as 3/4/2025, if there are any, is "
        "public; it was taken from the log.",
        "Ob in Zeitstempeln wie 3/4/2025, falls es solche gibt, Tag oder Monat zuerst steht, ist "
        "öffentlich; es wurde dem Protokoll entnommen.",
    ),
    *(
        (
            f"That {{}} {english} is public; it was taken from the log.",
            f"Dass {{}} {german}, ist öffentlich; es wurde dem Protokoll entnommen.",
        )
        for english, german in TAKEN
    ),
    (
        "Whether events have time stamps is public; it was taken from the log.",
        "Ob Ereignisse Zeitstempel haben, ist öffentlich; es wurde dem Protokoll entnommen.",
    ),
    (
        "Which attributes cases and events have is public; it was taken from the log.",
        "Welche Merkmale Fälle und Ereignisse haben, ist öffentlich; es wurde dem Protokoll "
        "entnommen.",
    ),
    (
        "The names of the activities are public: {#} were declared.",
        "Die Namen der Aktivitäten sind öffentlich: {#} wurden vorab genannt.",
    ),
    ("max_length is public: {#}.", "max_length (größte Länge) ist öffentlich: {#}."),
    (
        "The upper bound on max_length ({#}) is public.",
        "Die Obergrenze von max_length ({#}) ist öffentlich.",
    ),
    ("The rules are public: {}.", "Die Regeln sind öffentlich: {}."),
    (
        "The rules are public knowledge. Where they come from: {}.",
        "Die Regeln sind allgemein bekannt. Ihre Herkunft: {}.",
    ),
    (
        "Bins of durations and a calendar of the years 1970 to 2069 are public.",
        "Klassen von Dauern und ein Kalender der Jahre 1970 bis 2069 sind öffentlich.",
    ),
    (
        "Bins of durations and a calendar {} are public.",
        "Klassen von Dauern und der Kalender {} sind öffentlich.",
    ),
    (
        "Earlier releases are public: {#} variants of them are candidates here.",
        "Frühere Veröffentlichungen sind öffentlich: {#} ihrer Varianten sind hier Kandidaten.",
    ),
    (
        "Only cases whose last event lies in period {} (UTC) were read; cases are told apart by "
        "their ids, and the first with an id counts.",
        "Nur Fälle, deren letztes Ereignis im Zeitraum {} (UTC) liegt, wurden gelesen; Fälle "
        "werden an ihrer Kennung unterschieden, der erste mit einer Kennung zählt.",
    ),
    (
        "Only cases whose last event lies in period {} (UTC) were read; those of one person are "
        "told apart by their ids, and the first with an id counts.",
        "Nur Fälle, deren letztes Ereignis im Zeitraum {} (UTC) liegt, wurden gelesen; die einer "
        "Person werden an ihrer Kennung unterschieden, der erste mit einer Kennung zählt.",
    ),
    # How releases of periods add up.
    (
        "{#} of these releases belong to one series: they were made with one ledger file. If a "
        "copy of that file was used as well, such as a restored backup, a case can be in several "
        "of them, and they add up to ε = {#}.",
        "{#} dieser Veröffentlichungen gehören zu einer Reihe: Sie wurden mit einer Datei eines "
        "Kontobuchs gemacht. Wurde auch eine Kopie dieser Datei benutzt, etwa eine "
        "wiederhergestellte Sicherung, kann ein Fall in mehreren von ihnen sein, und zusammen "
        "ergeben sie ε = {#}.",
    ),
    (
        "Releases of other periods may have cases in common with this one: no ledger kept them "
        "apart.",
        "Veröffentlichungen anderer Zeiträume können Fälle mit dieser gemeinsam haben: Kein "
        "Kontobuch hat sie getrennt.",
    ),
    (
        "Releases of other periods of this series have no case in common with this one: together "
        "they cost a case what the dearest period costs.",
        "Veröffentlichungen anderer Zeiträume dieser Reihe haben keinen Fall mit dieser "
        "gemeinsam: Zusammen kosten sie einen Fall so viel wie der teuerste Zeitraum.",
    ),
    (
        "A person may have cases in several periods: what releases of periods cost a person adds "
        "up.",
        "Eine Person kann Fälle in mehreren Zeiträumen haben: Was die Zeiträume sie kosten, wird "
        "addiert.",
    ),
    (
        "The guarantee is for one person in one period. The ε of all releases of this series whose "
        "periods overlap that period adds up. For a person with cases in several periods, the ε of "
        "these periods adds up as well.",
        "Die Garantie gilt für eine Person in einem Zeitraum. Die ε aller Veröffentlichungen "
        "dieser Reihe, deren Zeiträume sich mit ihm überschneiden, addieren sich. Für eine Person "
        "mit Fällen in mehreren Zeiträumen addieren sich auch die ε dieser Zeiträume.",
    ),
    # What was asked.
    ("the number of cases", "die Zahl der Fälle"),
    ("the lengths of cases", "die Längen der Fälle"),
    (
        "votes for activities, once or repeated",
        "Stimmen für Aktivitäten, einmal oder wiederholt",
    ),
    (
        "votes for directly-follows steps",
        "Stimmen für Schritte (welche Aktivität direkt auf welche folgt)",
    ),
    (
        "votes for three activities in a row (3-grams)",
        "Stimmen für drei Aktivitäten in Folge (3-Gramme)",
    ),
    ("counts of all sequences", "Häufigkeiten aller Abläufe"),
    ("votes for the nearest candidate (search)", "Stimmen für den nächsten Kandidaten (Suche)"),
    ("votes for the nearest candidate (final)", "Stimmen für den nächsten Kandidaten (Auswahl)"),
    ("how long cases take, in public bins", "wie lange Fälle dauern, in öffentlichen Klassen"),
    (
        "how long it takes from one event to the next, step by step",
        "wie lange es von einem Ereignis zum nächsten dauert, je Schritt",
    ),
    (
        "how long after the beginning each activity first happens",
        "wie lange nach dem Beginn jede Aktivität zum ersten Mal geschieht",
    ),
    (
        "in which month of a public calendar cases begin",
        "in welchem Monat eines öffentlichen Kalenders Fälle beginnen",
    ),
    (
        "on which day of the week and at which hours events happen",
        "an welchem Wochentag und zu welchen Stunden Ereignisse geschehen",
    ),
    (
        "attribute {}: its values, by family of variants",
        "Merkmal {}: seine Werte, je Familie von Varianten",
    ),
    ("attribute {}: its values, by activity", "Merkmal {}: seine Werte, je Aktivität"),
    (
        "attributes {} and {}: how their values go together",
        "Merkmale {} und {}: wie ihre Werte zusammengehören",
    ),
    (
        "noisy counts of the prefixes of length {#}",
        "verrauschte Häufigkeiten der Anfänge der Länge {#}",
    ),
    ("the rules of the process, read off the log", "die Regeln des Prozesses, aus dem Protokoll"),
    (
        "the largest of {#} periods, {} to {}, which have no case in common",
        "der größte von {#} Zeiträumen, {} bis {}, die keinen Fall gemeinsam haben",
    ),
    (
        "the largest sum over periods that overlap, of {#} periods, {} to {}",
        "die größte Summe über Zeiträume, die sich überschneiden, von {#} Zeiträumen, {} bis {}",
    ),
    ("{#} releases of period {}", "{#} Veröffentlichungen des Zeitraums {}"),
    ("a release of period {}", "eine Veröffentlichung des Zeitraums {}"),
    ("a release", "eine Veröffentlichung"),
    # What is not promised.
    (
        "The noise was drawn from a seed and can be drawn again: this release must not be "
        "published.",
        "Das Rauschen stammt aus einem Startwert und lässt sich erneut ziehen: Diese "
        "Veröffentlichung darf nicht veröffentlicht werden.",
    ),
    (
        "A released variant stands for the cases nearest to it; it need not have occurred itself.",
        "Eine veröffentlichte Variante steht für die Fälle, die ihr am nächsten sind; sie selbst "
        "muss nicht vorgekommen sein.",
    ),
    (
        "Cases longer than max_length are truncated there and marked as unfinished, and so are "
        "those of just that length.",
        "Fälle, die länger als max_length sind, werden dort abgeschnitten und als unvollendet "
        "markiert, ebenso die von genau dieser Länge.",
    ),
    (
        "Times of different cases are drawn independently: queues, work in progress and who "
        "waited for whom are not kept.",
        "Zeiten verschiedener Fälle werden unabhängig gezogen: Warteschlangen, gleichzeitige "
        "Arbeit und wer auf wen wartete, bleiben nicht erhalten.",
    ),
    (
        "Attributes go together with the flow, and with each other, only as far as tables of them "
        "were asked for; all else about how they go together is chance.",
        "Merkmale passen zum Ablauf und zueinander nur so weit, wie Tabellen von ihnen gefragt "
        "wurden; wie sie sonst zusammentreffen, ist Zufall.",
    ),
    *(
        (
            f"The attribute {{}} looks like {english}. Whoever released it insisted, and its "
            "values may name people.",
            f"Das Merkmal {{}} sieht aus wie {german}. Wer es veröffentlicht hat, hat darauf "
            "bestanden; seine Werte können Personen nennen.",
        )
        for english, german in PERSONAL
    ),
    (
        "People who work in the process are not protected: a unit of cases hides whose case it is, "
        "not who worked on it. Attributes that name them, or their groups, may tell about them.",
        "Wer im Prozess arbeitet, ist nicht geschützt: Eine Schutzeinheit von Fällen verbirgt, "
        "wessen Fall es ist, nicht, wer daran gearbeitet hat. Merkmale, die Beschäftigte oder ihre "
        "Gruppen nennen, können etwas über sie verraten.",
    ),
    (
        "Times are artificial: they say nothing about when or how fast anything happened.",
        "Zeiten sind künstlich: Sie sagen nichts darüber, wann oder wie schnell etwas geschah.",
    ),
    (
        "ε = {#} is the price of one level; the whole release of {#} levels costs {#} per case.",
        "ε = {#} ist der Preis einer Ebene; die ganze Veröffentlichung mit {#} Ebenen kostet {#} "
        "je Fall.",
    ),
    (
        "No finite ε holds for this release: the rules were read off the secret log without "
        "payment. With public rules it would be {#}.",
        "Für diese Veröffentlichung gilt kein endliches ε: Die Regeln wurden unbezahlt aus dem "
        "geheimen Protokoll gelesen. Mit öffentlichen Regeln wäre es {#}.",
    ),
    (
        "one case can change the rules, and with them what is released, beyond any ε",
        "ein einziger Fall kann die Regeln ändern und damit das Veröffentlichte, über jedes ε "
        "hinaus",
    ),
    # Notes.
    (
        "All noise was drawn exactly, the number of empty cells that reach a threshold too: no "
        "numerical error adds to ε, and δ is 0.",
        "Alles Rauschen wurde exakt gezogen, auch die Zahl leerer Zellen über einer Schwelle: "
        "Kein Rechenfehler vergrößert ε, und δ ist 0.",
    ),
    (
        "Cases are truncated at length {#}, chosen from noisy lengths.",
        "Fälle werden bei Länge {#} abgeschnitten, gewählt aus verrauschten Längen.",
    ),
    (
        "Cases are truncated at length {#}, a fallback: noise hides lengths.",
        "Fälle werden bei Länge {#} abgeschnitten, ersatzweise: Das Rauschen verdeckt Längen.",
    ),
    (
        "{#} of {#} activities were dropped: noise hides them.",
        "{#} von {#} Aktivitäten entfallen: Das Rauschen verdeckt sie.",
    ),
    (
        "{#} frequent variants were shown as they are.",
        "{#} häufige Varianten wurden gezeigt, wie sie sind.",
    ),
    (
        "Some stages had too many sequences to count, and showed none by name.",
        "Manche Stufen hatten zu viele Abläufe, um sie zu zählen, und zeigten keinen mit Namen.",
    ),
    (
        "The rules have too many states to count the sequences that keep them: variants are shown "
        "by name within the allowed steps alone.",
        "Die Regeln haben zu viele Zustände, um die Abläufe zu zählen, die sie einhalten: "
        "Varianten werden nur innerhalb der erlaubten Schritte mit Namen gezeigt.",
    ),
    (
        "Cases without events were left out of the release: {#}, counted with noise.",
        "Fälle ohne Ereignisse wurden nicht veröffentlicht: {#}, mit Rauschen gezählt.",
    ),
    (
        "The release was scaled down: it would hold {#} events, more than the public bound of "
        "{#}. Every count was multiplied by the same factor and rounded down.",
        "Die Veröffentlichung wurde verkleinert: Sie enthielte {#} Ereignisse, mehr als die "
        "öffentliche Obergrenze von {#}. Jede Zahl wurde mit demselben Faktor multipliziert und "
        "abgerundet.",
    ),
    (
        "The release was scaled down: of {#} cases that answers tell, {#} are released, a public "
        "bound for cases with times or attributes.",
        "Die Veröffentlichung wurde verkleinert: Von {#} Fällen, die den Antworten nach zu "
        "erwarten sind, werden {#} veröffentlicht, eine öffentliche Obergrenze für Fälle mit "
        "Zeiten oder Merkmalen.",
    ),
    (
        "Attributes were left out, because not all releases have them, with times: {}.",
        "Merkmale wurden weggelassen, weil nicht alle Veröffentlichungen sie mit Zeiten haben: {}.",
    ),
    (
        "This release is put together from {#} others; nothing more was asked.",
        "Diese Veröffentlichung ist aus {#} anderen zusammengesetzt; weiter wurde nichts gefragt.",
    ),
    (
        "It holds {#} cases; without noise there are {#} fewer to {#} more, in 95 of 100 runs.",
        "Sie enthält {#} Fälle; ohne Rauschen sind es {#} weniger bis {#} mehr, in 95 von 100 "
        "Läufen.",
    ),
    (
        "A person who has cases in several of these periods is protected for each by itself; over "
        "all of them it costs ε = {#}.",
        "Wer Fälle in mehreren dieser Zeiträume hat, ist für jeden einzeln geschützt; über alle "
        "kostet es ε = {#}.",
    ),
    (
        "Times are made up: not all releases have their own.",
        "Zeiten sind erfunden: Nicht alle Veröffentlichungen haben eigene.",
    ),
)


def to_german(sentence: str) -> str:
    """A sentence of a certificate in German; one that is not known stays, and is marked."""
    translated = find_german(sentence)
    return f"[englisch] {sentence}" if translated is None else translated


def find_german(sentence: str) -> str | None:
    """A sentence of a certificate in German, or None."""
    for pattern, german in _COMPILED:
        if found := pattern.fullmatch(sentence):
            return _fill(german, [_number(value) for value in found.groups()])
    return None


def _fill(german: str, values: list[str]) -> str:
    """Put values into their places: in order, or where places have numbers, by these, from 1."""
    rest = iter(values)

    def value(place: re.Match[str]) -> str:
        return values[int(place[1]) - 1] if place[1] not in ("", "#") else next(rest)

    return re.sub(r"\{(#|\d|)\}", value, german)


MARKS = ((r"\{\}", "(.+?)"), (r"\{\#\}", r"([0-9.,/e+-]+?)"), (r"\{w\}", r"([\w-]+)"))
"""How what is between the words of a sentence looks: anything, a number, one word."""


def _compile(english: str) -> re.Pattern[str]:
    text = re.escape(english)
    for mark, form in MARKS:
        text = text.replace(mark, form)
    return re.compile(text.replace(r"case\[s\]", "cases?"), re.DOTALL)


def _number(text: str) -> str:
    """A number as it is written in German; anything else as it is."""
    if not re.fullmatch(r"[0-9][0-9,]*(\.[0-9]+)?", text):
        return text
    return text.translate(str.maketrans(",.", ".,"))


_COMPILED = tuple((_compile(english), german) for english, german in PAIRS)
