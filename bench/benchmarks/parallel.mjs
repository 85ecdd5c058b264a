// The calls of a turn side by side: 100 readonly calls whose handlers each await something, so that
// they overlap. The floor is Promise.all over validator and handler.

import { timePerCall } from "../measure.mjs";
import { install } from "../workload.mjs";

/** @import { Benchmark } from "./index.mjs" */
/** @import { Kit } from "../workload.mjs" */

/** @type {Benchmark} */
export const parallel = {
  id: "parallel",
  title: "Side by side: 100 readonly calls that each await, in a turn",
  subjects: [
    "floor-json",
    "soong",
    "pi",
    "openai-invoke",
    "mcp",
    "ai-sdk",
    "langgraph",
    "openai-runner",
  ],
  floor: "floor-json",
  rounds: { full: 9, quick: 2 },
  metrics: [
    { id: "microtask", title: "CPU time per call, each awaiting a microtask", unit: "µs" },
    { id: "macrotask", title: "CPU time per call, each awaiting a macrotask", unit: "µs" },
  ],
  async prepare(subject, { quick }) {
    /** @type {(Kit & { wait: string })[]} */
    const kinds = [];
    for (const wait of /** @type {const} */ (["microtask", "macrotask"])) {
      const kind = await install(subject, { wait, parallel: true });
      await timePerCall(kind.installed, kind.calls, quick ? 150 : 400);
      kinds.push({ wait, ...kind });
    }
    return {
      remarks: [...new Set(kinds.flatMap(({ remarks }) => remarks))],
      async round() {
        /** @type {Record<string, number>} */
        const values = {};
        for (const { wait, calls, installed } of kinds)
          values[wait] = (await timePerCall(installed, calls, quick ? 50 : 100)).cpu;
        return { values };
      },
      close: () => Promise.all(kinds.map(({ installed }) => installed.close?.())),
    };
  },
};
