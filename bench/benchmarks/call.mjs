// What one call costs: 100 readonly calls in one turn, arguments as JSON text, a small result,
// handlers that answer at once.

import { timePerCall } from "../measure.mjs";
import { install } from "../workload.mjs";

/** @import { Benchmark } from "./index.mjs" */

/** @type {Benchmark} */
export const call = {
  id: "call",
  title: "One call: 100 readonly calls in a turn",
  subjects: [
    "floor",
    "floor-json",
    "soong",
    "pi",
    "openai-invoke",
    "mcp",
    "ai-sdk",
    "langgraph",
    "openai-runner",
  ],
  floor: "floor",
  rounds: { full: 15, quick: 5 },
  metrics: [
    { id: "us", title: "per call", unit: "µs" },
    { id: "cpu", title: "CPU time per call, all threads", unit: "µs" },
  ],
  async prepare(subject, { quick }) {
    const { installed, calls, remarks } = await install(subject);
    await timePerCall(installed, calls, quick ? 500 : 2_000);
    return {
      remarks,
      round: async () => ({
        values: await timePerCall(installed, calls, quick ? 50 : 100),
      }),
      close: installed.close,
    };
  },
};
