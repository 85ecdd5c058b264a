// Whether a call stays as cheap when there are many tools beside it: the same 100 calls to ten tools,
// out of 10, 1 000 and 10 000 registered.

import { timePerCall } from "../measure.mjs";
import { install } from "../workload.mjs";

/** @import { Benchmark, Values } from "./index.mjs" */
/** @import { Kit } from "../workload.mjs" */

const sizes = [10, 1_000, 10_000];

/** @type {Benchmark} */
export const flat = {
  id: "flat",
  title: "One call among many tools",
  subjects: ["floor-json", "soong", "pi", "mcp", "ai-sdk", "langgraph", "openai-runner"],
  slow: ["mcp", "langgraph", "openai-runner"],
  floor: "floor-json",
  rounds: { full: 5, quick: 2 },
  metrics: [
    { id: "10", title: "10 tools, CPU time per call", unit: "µs" },
    { id: "1000", title: "1 000 tools, CPU time per call", unit: "µs" },
    { id: "10000", title: "10 000 tools, CPU time per call", unit: "µs" },
    { id: "growth", title: "10 000 tools / 10 tools (1 = flat)", unit: "×" },
  ],
  async prepare(subject, { quick }) {
    /** @type {(Kit & { size: number })[]} */
    const kits = [];
    for (const size of sizes) {
      const kit = await install(subject, { tools: size });
      await timePerCall(kit.installed, kit.calls, quick ? 100 : 300);
      kits.push({ size, ...kit });
    }
    return {
      remarks: [...new Set(kits.flatMap(({ remarks }) => remarks))],
      async round() {
        /** @type {Values} */
        const values = {};
        for (const { size, calls, installed } of kits)
          values[size] = (await timePerCall(installed, calls, quick ? 30 : 80)).cpu;
        values.growth = /** @type {number} */ (values[10_000]) / /** @type {number} */ (values[10]);
        return { values };
      },
      close: () => Promise.all(kits.map(({ installed }) => installed.close?.())),
    };
  },
};
