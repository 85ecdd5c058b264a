// Whether a call stays as cheap when there are many tools beside it: the same 100 calls to ten tools,
// out of 10, 1 000 and 10 000 registered.

import { timePerCall } from "../measure.mjs";
import { makeCalls, makeTools, proveWork } from "../workload.mjs";

/** @import { Benchmark, Values } from "./index.mjs" */
/** @import { Installed } from "../subjects/index.mjs" */
/** @import { Call } from "../workload.mjs" */

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
    { id: "10", title: "per call, 10 tools", unit: "µs" },
    { id: "1000", title: "per call, 1 000 tools", unit: "µs" },
    { id: "10000", title: "per call, 10 000 tools", unit: "µs" },
    { id: "growth", title: "10 000 tools / 10 tools (1 = flat)", unit: "×" },
  ],
  async prepare(subject, { quick }) {
    /** @type {{ size: number, calls: Call[], installed: Installed }[]} */
    const kits = [];
    /** @type {Set<string>} */
    const remarks = new Set();
    for (const size of sizes) {
      const tools = makeTools(size);
      const calls = makeCalls(100, tools);
      const installed = await subject.create({ tools, parallel: false });
      for (const remark of await proveWork(await installed.session(), calls)) remarks.add(remark);
      await timePerCall(installed, calls, quick ? 100 : 300);
      kits.push({ size, calls, installed });
    }
    return {
      remarks: [...remarks],
      async round() {
        /** @type {Values} */
        const values = {};
        for (const { size, calls, installed } of kits)
          values[size] = (await timePerCall(installed, calls, quick ? 30 : 80)).us;
        values.growth = /** @type {number} */ (values[10_000]) / /** @type {number} */ (values[10]);
        return { values };
      },
      close: () => Promise.all(kits.map(({ installed }) => installed.close?.())),
    };
  },
};
