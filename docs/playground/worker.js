// Runs topospread beside the page: answers one question at a time.
// It posts {ready: true} after the start, {id, told} for a question, and {failed: words}.
import { started } from "./python.js";

const asking = started().then((python) => python.pyimport("asking"));
asking.then(
  () => self.postMessage({ ready: true }),
  (error) => self.postMessage({ failed: String(error) }),
);

self.onmessage = async ({ data }) => {
  try {
    const { id, question, manifest, cluster, target } = data;
    self.postMessage({ id, told: JSON.parse((await asking).ask(question, manifest, cluster, target)) });
  } catch (error) {
    self.postMessage({ failed: String(error) });
  }
};
