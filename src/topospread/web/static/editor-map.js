// The map beside a manifest that is written: the same as on the map's own page, of the cluster with its pods placed.

import { NodeMap } from "./map.js";

export class DraftMap {
  constructor(figure) {
    this.figure = figure;
    this.words = figure.querySelector("figcaption");
    this.usual = this.words.textContent;
    this.map = new NodeMap(figure.querySelector("div"), { point: (node) => this.point(node), choose: () => {} });
    this.picture = null;
  }

  /** Shows a picture; null where there is none, or it would be too large to be drawn at every key. */
  show(picture) {
    this.picture = picture;
    this.figure.hidden = picture === null;
    this.words.textContent = this.usual;
    if (picture) this.map.show(picture, { key: 0, fill: "most", workload: -1, constraint: null, rejected: null, node: "" });
  }

  point(node) {
    const { nodes, workloads } = this.picture ?? { nodes: { pods: [] } }, pods = [];
    for (let at = 0; at < (nodes.pods[node]?.length ?? 0); at += 2) pods.push(`${nodes.pods[node][at + 1]} of ${workloads.name[nodes.pods[node][at]]}`);
    this.words.textContent = nodes.pods[node] ? `${nodes.name[node]}: ${pods.join(", ") || "no pods"}` : this.usual;
  }
}
