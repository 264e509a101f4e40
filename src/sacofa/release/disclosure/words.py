"""What is the same in every certificate, in English and German."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ...errors import SettingError
from ...synthesis.verdict import CASES, EXPECTED, MISFIT, NOISY, OR, WOULD_DO

Language = Literal["en", "de"]


@dataclass(frozen=True)
class Text:
    """One text in every language."""

    en: str
    de: str

    def say(self, language: Language, **values: object) -> str:
        """The text in a language, with values filled in."""
        return str(getattr(self, language)).format(**values)


def german_number(text: str) -> str:
    """A number that was written in English: 1,234.5 or 12%."""
    return text.translate(str.maketrans(",.", ".,")).replace("%", " %")


def check_language(language: str) -> Language:
    """Refuse a language that is not spoken here."""
    for known in get_args(Language):
        if language == known:
            return known  # type: ignore[no-any-return]
    raise SettingError("language", language, f"one of {', '.join(get_args(Language))}")


HEADINGS = {
    "title": Text("Statement of privacy protection", "Erklärung zum Schutz der Privatsphäre"),
    "what": Text("What was released", "Was veröffentlicht wird"),
    "people": Text("Who, what for, where", "Wer, wozu, wo"),
    "unit": Text("What is protected (unit of privacy)", "Was geschützt ist (Schutzeinheit)"),
    "neighbours": Text("Neighbouring logs", "Benachbarte Protokolle"),
    "price": Text("How strongly (ε)", "Wie stark (ε)"),
    "contributions": Text("Bounded contributions", "Begrenzte Beiträge"),
    "accounting": Text("How the price adds up", "Wie sich der Preis zusammensetzt"),
    "repeated": Text("Other releases", "Andere Veröffentlichungen"),
    "trust": Text("Who must be trusted (trust model)", "Wem zu vertrauen ist (Vertrauensmodell)"),
    "tuning": Text("Pre-processing and tuning", "Vorverarbeitung und Wahl der Einstellungen"),
    "exactness": Text("Exactness of noise", "Genauigkeit des Rauschens"),
    "channels": Text("Side channels", "Seitenkanäle"),
    "security": Text("Security of the original data", "Sicherheit der Originaldaten"),
    "assumptions": Text("Taken to be public or true", "Als öffentlich oder wahr angenommen"),
    "outside": Text("Outside the promise", "Außerhalb des Versprechens"),
    "accuracy": Text("Usefulness", "Brauchbarkeit"),
    "audit": Text("Audit", "Prüfung"),
    "settings": Text("Settings", "Einstellungen"),
}

SENTENCES = {
    "file": Text("The file with SHA-256 {sha256}.", "Die Datei mit SHA-256 {sha256}."),
    "mechanism": Text(
        "An event log made by the mechanism “{mechanism}” of sacofa {version} from the answers to "
        "queries that were asked through noise; no case of the original was copied.",
        "Ein Ereignisprotokoll, das das Verfahren „{mechanism}“ von sacofa {version} aus "
        "verrauschten Antworten auf Abfragen erzeugt hat; kein Fall des Originals wurde "
        "übernommen.",
    ),
    "combined": Text(
        "An event log put together by sacofa {version} from several releases; nothing more was "
        "asked of the original.",
        "Ein Ereignisprotokoll, das sacofa {version} aus mehreren Veröffentlichungen "
        "zusammengesetzt hat; das Original wurde dafür nicht erneut befragt.",
    ),
    "price": Text(
        "ε = {epsilon} for the whole release, and δ = 0 (pure differential privacy).",
        "ε = {epsilon} für die ganze Veröffentlichung, und δ = 0 (reine Differential Privacy).",
    ),
    "no price": Text(
        "There is no finite ε: this release carries no mathematical promise.",
        "Es gibt kein endliches ε: Diese Veröffentlichung ist mit keinem mathematischen "
        "Versprechen verbunden.",
    ),
    "odds": Text(
        "In plain words: whoever guesses whether somebody is in the log can improve the odds of "
        "the guess by a factor of at most {factor} with this release, and the odds of a guess "
        "about what happened by at most {course}.",
        "In einfachen Worten: Wer rät, ob jemand im Protokoll vorkommt, kann seine Chancen durch "
        "diese Veröffentlichung höchstens um den Faktor {factor} verbessern, und beim Raten, was "
        "geschehen ist, höchstens um den Faktor {course}.",
    ),
    "seeded": Text(
        "This release must not be published: its noise can be drawn again from a seed.",
        "Diese Veröffentlichung darf nicht veröffentlicht werden: Ihr Rauschen lässt sich aus "
        "einem Startwert erneut ziehen.",
    ),
    "unseeded": Text(
        "With noise that nobody can draw again it would cost ε = {epsilon}.",
        "Mit Rauschen, das niemand erneut ziehen kann, würde sie ε = {epsilon} kosten.",
    ),
    "unbounded": Text(
        "What was read off the log without payment has no bound: one case can change the release "
        "by any amount.",
        "Was unbezahlt aus dem Protokoll gelesen wurde, ist unbegrenzt: Ein einziger Fall kann "
        "die Veröffentlichung beliebig ändern.",
    ),
    "bounded case": Text(
        "However long a case is, it changes all answers together by no more than its price says: "
        "each case has one vote in each query.",
        "Wie lang ein Fall auch ist, er ändert alle Antworten zusammen nur so weit, wie der Preis "
        "es sagt: Jeder Fall hat in jeder Abfrage eine Stimme.",
    ),
    "bounded person": Text(
        "At most {max_cases} cases of a person are read; which ones follows from that person's "
        "cases alone, and noise is large enough to hide all of them.",
        "Von einer Person werden höchstens {max_cases} Fälle gelesen; welche, folgt allein aus "
        "den Fällen dieser Person, und das Rauschen ist groß genug, sie alle zu verbergen.",
    ),
    "composition": Text(
        "The prices of all queries add up (basic composition); what is made of answers costs "
        "nothing more (post-processing).",
        "Die Preise aller Abfragen werden addiert (einfache Komposition); was aus Antworten "
        "gemacht wird, kostet nichts weiter (Nachverarbeitung).",
    ),
    "alone": Text(
        "This release stands for itself. Every further release of the same log adds its price; a "
        "ledger keeps count where one is used.",
        "Diese Veröffentlichung steht für sich. Jede weitere desselben Protokolls kommt mit ihrem "
        "Preis hinzu; ein Kontobuch zählt mit, wo eines geführt wird.",
    ),
    "series": Text(
        "It is part of series {series}, and of period {name} ({first} until before {after}, UTC).",
        "Sie gehört zur Reihe {series} und zum Zeitraum {name} ({first} bis vor {after}, UTC).",
    ),
    "period": Text(
        "It is of period {name} ({first} until before {after}, UTC).",
        "Sie gehört zum Zeitraum {name} ({first} bis vor {after}, UTC).",
    ),
    "together": Text(
        "It is put together from the releases that its settings list, and its price is that of all "
        "of them: publishing these beside it costs nothing more. Every further release of the same "
        "log adds its price; a ledger keeps count where one is used.",
        "Sie ist aus den Veröffentlichungen zusammengesetzt, die ihre Einstellungen nennen, und "
        "ihr Preis ist der von allen zusammen: Diese daneben zu veröffentlichen kostet nichts "
        "weiter. Jede weitere desselben Protokolls kommt mit ihrem Preis hinzu; ein Kontobuch "
        "zählt mit, wo eines geführt wird.",
    ),
    "trust": Text(
        "Central model: whoever runs the program sees the original log and must be trusted with "
        "it.",
        "Zentrales Modell: Wer das Programm ausführt, sieht das Originalprotokoll und muss "
        "vertrauenswürdig sein.",
    ),
    "recipients": Text(
        "Whoever receives the release is not trusted at all: the promise holds against everyone, "
        "whatever else they know, and now or later.",
        "Wer die Veröffentlichung erhält, muss es nicht sein: Das Versprechen gilt gegenüber "
        "allen, was immer sie sonst wissen, jetzt und später.",
    ),
    "trusted recipients": Text(
        "No promise holds against whoever receives the release: they must be trusted as well.",
        "Gegenüber denen, die die Veröffentlichung erhalten, gilt kein Versprechen: Auch sie "
        "müssen vertrauenswürdig sein.",
    ),
    "generator": Text(
        "Noise is drawn from the cryptographic generator of the operating system.",
        "Das Rauschen stammt aus dem kryptographischen Zufallsgenerator des Betriebssystems.",
    ),
    "seed": Text(
        "Noise is drawn from a seed: whoever knows it can draw the same noise again.",
        "Das Rauschen stammt aus einem Startwert: Wer ihn kennt, kann es erneut ziehen.",
    ),
    "order": Text(
        "The order of events in a case, whose case it is and which cases count follow from each "
        "case, or each person's cases, alone. So reading the log is part of the promise.",
        "Die Reihenfolge der Ereignisse in einem Fall, wessen Fall es ist und welche Fälle "
        "zählen, folgt allein aus jedem Fall oder den Fällen jeder Person. Das Einlesen ist also "
        "Teil des Versprechens.",
    ),
    "tuned": Text(
        "The program tunes nothing on the log but under a price that is listed here.",
        "Das Programm stellt nichts anhand des Protokolls ein, außer zu einem Preis, der hier "
        "aufgeführt ist.",
    ),
    "tuned unpaid": Text(
        "The program read something off the log without payment: it is listed where the price "
        "adds up.",
        "Das Programm hat etwas unbezahlt aus dem Protokoll gelesen: Es ist aufgeführt, wo sich "
        "der Preis zusammensetzt.",
    ),
    "chosen": Text(
        "Whether people chose settings after they had looked at the log, the certificate cannot "
        "know.",
        "Ob Menschen Einstellungen gewählt haben, nachdem sie das Protokoll gesehen hatten, kann "
        "das Zertifikat nicht wissen.",
    ),
    "exactness": Text(
        "Noise is discrete, drawn exactly with whole numbers; no floating point number stands "
        "between a count and its noise.",
        "Das Rauschen ist ganzzahlig und wird exakt gezogen; zwischen einer Zählung und ihrem "
        "Rauschen steht keine Gleitkommazahl.",
    ),
    "by noise": Text(
        "The released file, its length, order and times are made of noisy answers alone.",
        "Die veröffentlichte Datei, ihre Länge, Reihenfolge und Zeiten sind allein aus "
        "verrauschten Antworten gemacht.",
    ),
    "not by noise": Text(
        "The released file, its length and its order are made of noisy answers and of what was "
        "read off the log without payment.",
        "Die veröffentlichte Datei, ihre Länge und ihre Reihenfolge sind aus verrauschten "
        "Antworten gemacht und aus dem, was unbezahlt aus dem Protokoll gelesen wurde.",
    ),
    "channels": Text(
        "Recipients cannot ask anything, so they cannot measure how long answers take. How long "
        "the program ran, what it told the holder of the log on the terminal, and its temporary "
        "files are not covered: keep them secret.",
        "Empfänger können nichts abfragen und daher auch keine Antwortzeiten messen. Nicht "
        "erfasst sind die Laufzeit des Programms, seine Meldungen an den Inhaber des Protokolls "
        "und seine temporären Dateien: Sie sind geheim zu halten.",
    ),
    "security": Text(
        "How the original log is stored and who may read it is up to its holder; the certificate "
        "cannot know.",
        "Wie das Originalprotokoll aufbewahrt wird und wer es lesen darf, liegt bei seinem "
        "Inhaber; das Zertifikat kann es nicht wissen.",
    ),
    "claims": Text(
        "What a person who knows a lot can conclude from general patterns in the release, also "
        "about people who are not in the log, is not limited.",
        "Was jemand mit viel Vorwissen aus allgemeinen Mustern der Veröffentlichung schließt, "
        "auch über Menschen, die gar nicht im Protokoll sind, ist nicht begrenzt.",
    ),
    "employees": Text(
        "Only the unit named above is protected: not those who did the work, and not the "
        "organisation.",
        "Geschützt ist nur die oben genannte Einheit: nicht die Beschäftigten, die die Arbeit "
        "getan haben, und nicht die Organisation.",
    ),
    "unaudited": Text(
        "No result of an audit was given for this statement.",
        "Für diese Erklärung wurde kein Prüfergebnis vorgelegt.",
    ),
    "audited": Text(
        "An attacker that runs the mechanism {runs} times on each of two neighbouring logs did "
        "not refute its claim (ε = {claimed} there); the largest ε proven was {highest} (95 % "
        "confidence).",
        "Ein Angreifer, der das Verfahren {runs}-mal auf jedem von zwei benachbarten Protokollen "
        "ausführt, konnte die Zusage (dort ε = {claimed}) nicht widerlegen; das größte bewiesene ε "
        "war {highest} (Konfidenz 95 %).",
    ),
    "refuted": Text(
        "An audit refuted the claim of this mechanism: do not publish.",
        "Eine Prüfung hat die Zusage dieses Verfahrens widerlegt: nicht veröffentlichen.",
    ),
    "margins": Text(
        "Margins of error (95 %): {known}. The certificate lists the margin of every figure.",
        "Fehlerspannen (95 %): {known}. Das Zertifikat nennt die Fehlerspanne jeder Zahl.",
    ),
    "margin of cases": Text("number of cases ±{high}", "Zahl der Fälle ±{high}"),
    "margin of activities": Text(
        "events of an activity ±{low} to ±{high}", "Ereignisse einer Aktivität ±{low} bis ±{high}"
    ),
    "margin of steps": Text(
        "directly-follows pairs ±{low} to ±{high}", "direkte Abfolgen ±{low} bis ±{high}"
    ),
    "no margins": Text(
        "The margins of error of the figures are not known.",
        "Die Fehlerspannen der Zahlen sind nicht bekannt.",
    ),
    "missing": Text(
        "These activities are public, but no released case has them: {names}.",
        "Diese Aktivitäten sind öffentlich, kommen aber in keinem veröffentlichten Fall vor: "
        "{names}.",
    ),
    "no verdict": Text(
        "The certificate does not say how sure the release is.",
        "Das Zertifikat sagt nicht, wie verlässlich die Veröffentlichung ist.",
    ),
}

VERDICT_IN_GERMAN = {
    "reliable": "verlässlich",
    "rough": "grob",
    "unreliable": "unzuverlässig",
    "directly-follows edges": "direkte Nachfolgen",
    "activity shares": "Anteile der Aktivitäten",
    "case lengths": "Längen der Fälle",
    "attribute values": "Werte von Attributen",
    EXPECTED: "erwartete Fehler:",
    NOISY: "Für diese Zahl von Fällen ist das Rauschen groß",
    MISFIT: "Die veröffentlichten Fälle weichen von den verrauschten Antworten stärker ab, als "
    "Rauschen erklärt: Der Prozess ist nicht gut wiedergegeben, und ein größeres ε hilft womöglich "
    "nicht.",
    CASES: "Fälle",
    OR: "oder",
    WOULD_DO: "würden genügen",
}
"""All words of a verdict."""

LABELS = {
    "name": Text("name", "Name"),
    "curator": Text("published by", "herausgegeben von"),
    "purpose": Text("purpose", "Zweck"),
    "region": Text("region", "Gebiet"),
    "description": Text("description", "Beschreibung"),
    "published": Text("published on", "veröffentlicht am"),
    "author": Text("filled in by", "ausgefüllt von"),
    "sector": Text("sector", "Bereich"),
}
