"""An attacker with a dictionary, the code and public charts recovers less than 2 % of an anonymous cluster's names."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from typing import Any

import msgspec
import pytest

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.sources.anonymous import anonymous
from topospread.sources.pseudonyms import Pseudonyms, key_of

MOST = 0.02
"""Share of private names that an attacker may recover."""
NOUNS = re.findall(
    r"\w+",
    """payments ledger invoice payroll customer checkout basket fraud risk loyalty voucher pricing catalog search stock
    parcel courier refund account identity wallet tax audit claims quotes broker fund bond equity margin""",
)
PARTS = re.findall(
    r"\w+", "api web worker db cache queue gateway sync export import batch stream proxy report backend frontend"
)
CHART = ["prometheus", "operator", "grafana", "alertmanager", "exporter", "node", "state", "metrics"]
COMPANY = ["acme", "globex", "initech", "umbrella", "hooli"]
Json = dict[str, Any]


class Town:
    """A synthetic cluster: teams' namespaces with private names, and a public chart in a namespace of its own."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.private: set[str] = set()
        self.objects: dict[str, list[Json]] = {kind: [] for kind in KINDS}
        company = self.draw.choice(COMPANY)
        for number in range(30):
            self._node(company, number)
        for noun in self.draw.sample(NOUNS, 20):
            namespace = self._mine(f"{company}-{noun}")
            for part in self.draw.sample([*PARTS, *CHART], 8):
                self._workload(namespace, self._mine(f"{noun}-{part}"), company)
        for word in CHART:
            self._workload("monitoring", f"kube-prometheus-stack-{word}", "")

    def inventory(self) -> Inventory:
        lists = {
            how.attribute: msgspec.convert(self.objects[kind], list[how.struct], strict=False)  # type: ignore[name-defined]
            for kind, how in KINDS.items()
        }
        return Inventory(**lists)

    def _mine(self, name: str) -> str:
        self.private.add(name)
        return name

    def _node(self, company: str, number: int) -> None:
        team = self.draw.choice(NOUNS)
        labels = {
            f"node-role.kubernetes.io/{team}": "",
            f"{company}.example/{team}-pool": self._mine(f"{team}-pool"),
            "topology.kubernetes.io/zone": self._mine(f"{company}-dc-{'abc'[number % 3]}"),
            "kubernetes.io/hostname": self._mine(f"{company}-{team}-{number}"),
            "costcenter": self._mine(f"cc-{team}"),
        }
        self.private |= {team, f"{team}-pool"}
        images = [{"names": [self._mine(f"{company}.example/{team}:1")], "sizeBytes": self.draw.randrange(2**30)}]
        status = {"allocatable": {"cpu": "8", f"{company}.example/{team}": "1"}, "images": images}
        metadata = {"name": labels["kubernetes.io/hostname"], "labels": labels}
        self.objects["Node"].append({"kind": "Node", "metadata": metadata, "spec": {}, "status": status})

    def _workload(self, namespace: str, name: str, company: str) -> None:
        labels = {"app": name, f"{company or 'app.kubernetes'}.io/name": name}
        own = {"name": name, "namespace": namespace, "labels": labels, "uid": f"{self.draw.getrandbits(64):x}"}
        spec = {"containers": [{"name": name, "image": f"{company}/{name}:{self.draw.randrange(9)}"}]}
        if company:
            spec["schedulerName"] = self._mine(f"{company}-scheduler")  # type: ignore[assignment]
        template = {"metadata": {"labels": labels}, "spec": spec}
        replicas = self.draw.randrange(1, 6)
        body = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        self.objects["StatefulSet"].append({"kind": "StatefulSet", "metadata": own, "spec": body})
        job = {"schedule": f"{self.draw.randrange(60)} 3 * * *", "jobTemplate": {"spec": {"template": template}}}
        self.objects["CronJob"].append({"kind": "CronJob", "metadata": {**own, "name": f"{name}-cron"}, "spec": job})
        owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name, "uid": own["uid"], "controller": True}
        for number in range(replicas):
            metadata = {**own, "name": f"{name}-{number}", "ownerReferences": [owner]}
            self.objects["Pod"].append({"kind": "Pod", "metadata": metadata, "spec": spec})


def texts(value: Any) -> list[str]:
    """Return every text in plain data, keys included, in order."""
    if isinstance(value, dict):
        return [text for key, each in value.items() for text in (key, *texts(each))]
    if isinstance(value, list):
        return [text for each in value for text in texts(each)]
    return [value] if isinstance(value, str) else []


class Attack:
    """The attacker's view: the anonymous objects, a dictionary of full names, and the plain objects for the score."""

    def __init__(self, town: Town, shown: Inventory, plain: Inventory) -> None:
        self.private = town.private
        self.shown = [text for item in shown.objects() for text in texts(msgspec.to_builtins(item))]
        self.shown_objects, self.plain_objects = list(shown.objects()), list(plain.objects())
        self.dictionary = sorted(
            {f"{a}-{b}" for a in [*NOUNS, *COMPANY] for b in [*NOUNS, *PARTS, *CHART]} | set(NOUNS)
        )

    def read_in_plain(self) -> set[str]:
        """Find names as they are, whole or as the private half of a key."""
        words = {word for text in self.shown for word in (text, *re.split("[/.:]", text))}
        return words & (self.private | set(NOUNS))

    def guess_salts(self) -> set[str]:
        """Compute the words of the dictionary with salts that a person may choose."""
        shown = set(self.shown)
        found = set()
        for salt in (b"", b"salt", b"topospread", b"password12345678"):
            for names in (Pseudonyms(key_of(salt)), Pseudonyms(salt)):
                for name in self.dictionary:
                    words = {names.name(name, space) for space in ("", "default", "monitoring")}
                    if (words | {names.namespace(name), names.label_value("app", name, "")}) & shown:
                        found.add(name)
        return found & self.private

    def align_the_chart(self) -> set[str]:
        """Decode the words of the public chart, recognised by its shape, and use them in all other names."""
        decoded: dict[str, str] = {}
        for plain, shown in zip(self.plain_objects, self.shown_objects, strict=True):
            if plain.namespace == "monitoring":
                for before, after in zip(*(texts(msgspec.to_builtins(each)) for each in (plain, shown)), strict=True):
                    parts = re.split("[-/.:]", before), re.split("[-/.:]", after)
                    decoded |= dict(zip(reversed(parts[1]), reversed(parts[0]), strict=False))
                    decoded[after] = before
        found = set()
        for plain, shown in zip(self.plain_objects, self.shown_objects, strict=True):
            # A name counts as recovered if its second half is decoded.
            if (
                plain.name in self.private
                and decoded.get(shown.name.rpartition("-")[2]) == plain.name.rpartition("-")[2]
            ):
                found.add(plain.name)
        return found

    def rank_by_frequency(self) -> set[str]:
        """Match the most frequent words with the most frequent names of a cluster that is built alike."""
        other = [text for item in Town(99).inventory().objects() for text in texts(msgspec.to_builtins(item))]
        ranked = (Counter(self.shown).most_common(), Counter(other).most_common())
        guess = {word: name for (word, _), (name, _) in zip(*ranked, strict=False)}
        plain = [text for item in self.plain_objects for text in texts(msgspec.to_builtins(item))]
        truth = dict(zip(self.shown, plain, strict=True))
        return {name for word, name in guess.items() if truth[word] == name} & self.private


WAYS = [Attack.read_in_plain, Attack.guess_salts, Attack.align_the_chart, Attack.rank_by_frequency]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("way", WAYS)
def test_less_than_two_percent_of_private_names_are_recovered(seed: int, way: Any) -> None:
    town = Town(seed)
    plain = town.inventory()
    found = way(Attack(town, anonymous(plain, b"a secret of the owner"), plain))
    assert len(town.private) > 150
    assert len(found) < MOST * len(town.private), sorted(found)


def test_names_in_plain_are_recovered() -> None:
    town = Town(1)
    plain = town.inventory()
    assert len(Attack(town, plain, plain).read_in_plain()) > MOST * len(town.private)


def test_words_without_context_are_recovered_by_the_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    town = Town(1)
    plain = town.inventory()
    word = Pseudonyms._word
    monkeypatch.setattr(Pseudonyms, "_word", lambda self, context, text: word(self, "", text))
    found = Attack(town, anonymous(plain, b"a secret of the owner"), plain).align_the_chart()
    assert len(found) > MOST * len(town.private)


def test_a_salt_that_can_be_guessed_is_guessed() -> None:
    town = Town(1)
    plain = town.inventory()
    found = Attack(town, anonymous(plain, b"password12345678"), plain).guess_salts()
    assert len(found) > MOST * len(town.private)


def test_no_private_name_is_shown_as_part_of_a_text() -> None:
    town = Town(2)
    text = json.dumps([msgspec.to_builtins(item) for item in anonymous(town.inventory()).objects()])
    assert not [name for name in [*town.private, *COMPANY] if re.search(rf"(?<![a-z0-9]){name}(?![a-z0-9])", text)]
