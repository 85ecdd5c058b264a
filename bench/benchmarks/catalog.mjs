// What many tools cost before any call: defining and registering them, resolving which of them a run
// may see, the list a model request carries, and the memory they hold.

import { liveHeap, timed } from "../measure.mjs";
import { makeTools } from "../workload.mjs";

/** @import { Benchmark, Metric, Values } from "./index.mjs" */
/** @import { Subject } from "../subjects/index.mjs" */

const sizes = [1_000, 10_000];

/** @type {Benchmark} */
export const catalog = {
  id: "catalog",
  title: "Many tools: registering, resolving, listing, memory",
  subjects: ["floor", "soong", "pi", "mcp", "ai-sdk", "langgraph", "openai-runner"],
  slow: ["mcp", "ai-sdk", "langgraph", "openai-runner"],
  floor: "floor",
  rounds: { full: 5, quick: 3 },
  metrics: sizes.flatMap((size) => metricsOf(size)),
  async prepare(subject) {
    await measureCatalog(subject, 1_000);
    return {
      remarks: [],
      async round() {
        /** @type {Values} */
        const values = {};
        for (const size of sizes) Object.assign(values, await measureCatalog(subject, size));
        return { values };
      },
    };
  },
};

/** @param {number} size @returns {Metric[]} */
function metricsOf(size) {
  const many = `${size.toLocaleString("en").replace(",", " ")} tools`;
  return [
    { id: `register-${size}`, title: `registering ${many}, CPU time`, unit: "ms" },
    {
      id: `resolve-${size}`,
      title: `starting the first run on ${many}, surface resolved and recorded, CPU time`,
      unit: "ms",
    },
    {
      id: `resolve-again-${size}`,
      title: `starting another run on ${many}, CPU time`,
      unit: "ms",
    },
    {
      id: `list-${size}`,
      title: `listing ${many} for a request, first time, CPU time`,
      unit: "ms",
    },
    { id: `again-${size}`, title: `listing ${many} for a request, again, CPU time`, unit: "ms" },
    { id: `bytes-${size}`, title: `heap per tool at ${many}`, unit: "bytes" },
  ];
}

/**
 * Memory is counted from before the plain definitions are made to after registering, resolving and
 * listing, so a runtime that copies a definition is not charged less than one that keeps it.
 * @param {Subject} subject @param {number} size @returns {Promise<Values>}
 */
async function measureCatalog(subject, size) {
  const before = liveHeap();
  const tools = makeTools(size);
  const { cpuMs: register, value: installed } = await timed(() =>
    subject.create({ tools, parallel: false }),
  );
  /** @type {Values} */
  const values = { [`register-${size}`]: register };
  if (installed.resolve) {
    values[`resolve-${size}`] = (await timed(installed.resolve)).cpuMs;
    values[`resolve-again-${size}`] = (await timed(installed.resolve)).cpuMs;
  }
  if (installed.list) {
    values[`list-${size}`] = (await timed(installed.list)).cpuMs;
    const { cpuMs, value } = await timed(installed.list);
    values[`again-${size}`] = cpuMs;
    if (/** @type {unknown[]} */ (value).length !== size) throw new Error("the list lost tools");
  }
  values[`bytes-${size}`] = (liveHeap() - before) / size;
  await installed.close?.();
  return values;
}
