"""Random scheduling gates for the pods of groups, which are removed, kept, or deleted with their pods."""

from __future__ import annotations

from copy import deepcopy

from conformance.generators.draw import Draw, Json


class GroupGates:
    """The gates of one case."""

    def __init__(self, draw: Draw, nodes: list[Json]) -> None:
        self.draw = draw
        self.objects: list[Json] = []
        self.pods: list[Json] = []

    def give(self, pods: list[Json]) -> None:
        """Give some pods of a group, or all, one gate or two."""
        draw = self.draw
        share = draw.choice([0.0, 0.2, 0.2, 0.5, 1.0])
        for pod in pods:
            if draw.chance(share):
                names = ["quota.example.com/wait", "images.example.com/wait"]
                pod["spec"]["schedulingGates"] = [{"name": each} for each in names[: draw.choice([1, 1, 2])]]
        self.pods += pods

    def give_placed(self, pod: Json) -> None:
        """Leave a pod with a node as it is: the API server denies gates there."""

    def later(self) -> list[Json]:
        """Return steps after the first pods settled: gates go one by one, a gated pod is added or deleted."""
        draw, steps = self.draw, list[Json]()
        now = [deepcopy(each) for each in self.pods]
        members = [each for each in now if "schedulingGroup" in each["spec"]]
        if members and draw.chance(0.2):
            new = deepcopy(draw.choice(members))
            new["metadata"] |= {"name": "late", "uid": "u-late"}
            if draw.chance(0.5):
                new["spec"]["schedulingGates"] = [{"name": "late.example.com/wait"}]
            steps.append({"create": new})
            now.append(deepcopy(new))
        gated = [each for each in now if each["spec"].get("schedulingGates")]
        draw.shuffle(gated)
        for pod in gated:
            if draw.chance(0.3):
                steps.append({"settle": True})
            how = draw.choice(["keep", "remove", "remove", "remove", "remove", "one", "delete"])
            if how == "delete" and draw.chance(0.5):
                metadata = pod["metadata"]
                steps.append({"delete": {"kind": "Pod", "namespace": "default", "name": metadata["name"]}})
                if draw.chance(0.5):
                    steps.append({"advance": 400})
            elif how != "keep":
                gates = pod["spec"]["schedulingGates"]
                pod["spec"]["schedulingGates"] = gates[1:] if how == "one" else []
                steps.append({"update": deepcopy(pod)})
        return steps
