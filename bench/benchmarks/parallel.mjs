// The calls of a turn side by side: 100 readonly calls whose handlers each await something, so that
// they overlap. The floor is Promise.all over validator and handler.

import { timePerCall } from "../measure.mjs";
import { makeCalls, makeTools, proveWork } from "../workload.mjs";

/** @import { Benchmark } from "./index.mjs" */

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
    { id: "microtask", title: "per call, each awaiting a microtask", unit: "µs" },
    { id: "macrotask", title: "per call, each awaiting a macrotask", unit: "µs" },
  ],
  async prepare(subject, { quick }) {
    const kinds = await Promise.all(
      /** @type {const} */ (["microtask", "macrotask"]).map(async (wait) => {
        const tools = makeTools(10, wait);
        const calls = makeCalls(100, tools);
        const installed = await subject.create({ tools, parallel: true });
        return { wait, calls, installed };
      }),
    );
    const remarks = [];
    for (const { calls, installed } of kinds) {
      remarks.push(...(await proveWork(await installed.session(), calls)));
      await timePerCall(installed, calls, quick ? 150 : 400);
    }
    return {
      remarks,
      async round() {
        /** @type {Record<string, number>} */
        const values = {};
        for (const { wait, calls, installed } of kinds)
          values[wait] = (await timePerCall(installed, calls, quick ? 50 : 100)).us;
        return { values };
      },
      close: () => Promise.all(kinds.map(({ installed }) => installed.close?.())),
    };
  },
};
