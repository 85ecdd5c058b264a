// What many tools cost before any call: defining and registering them, resolving which of them a run
// may see, the list a model request carries, and the memory they hold.

import { liveHeap, timed } from "../measure.mjs";
import { makeTools } from "../workload.mjs";

/** @import { Benchmark, Metric, Values } from "./index.mjs" */
/** @import { Subject } from "../subjects/index.mjs" */
/** @import { ToolSpec } from "../workload.mjs" */

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
    /** @type {Values} */
    const heap = {};
    // Apart from the times: the engine drops compiled code when garbage is forced out.
    for (const size of sizes) heap[`bytes-${size}`] = await bytesPerTool(subject, size);
    const round = async () => {
      const values = { ...heap };
      for (const size of sizes) {
        const { installed, ...times } = await timeCatalog(subject, makeTools(size));
        await installed.close?.();
        for (const [name, ms] of Object.entries(times)) values[`${name}-${size}`] = ms;
      }
      return { values };
    };
    await round();
    return { remarks: [], round };
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
 * Counted from before the plain definitions are made to after registering, resolving and
 * listing, so a runtime that copies a definition is not charged less than one that keeps it.
 * @param {Subject} subject @param {number} size
 */
async function bytesPerTool(subject, size) {
  const before = liveHeap();
  const tools = makeTools(size);
  const { installed } = await timeCatalog(subject, tools);
  const bytes = (liveHeap() - before) / tools.length;
  await installed.close?.();
  return bytes;
}

/** Milliseconds of CPU time. @param {Subject} subject @param {ToolSpec[]} tools */
async function timeCatalog(subject, tools) {
  const registered = await timed(() => subject.create({ tools, parallel: false }));
  const { resolve, list } = registered.value;
  return {
    installed: registered.value,
    register: registered.cpuMs,
    ...(resolve && {
      resolve: (await timed(resolve)).cpuMs,
      "resolve-again": (await timed(resolve)).cpuMs,
    }),
    ...(list && { list: await timeList(list, tools), again: await timeList(list, tools) }),
  };
}

/** @param {() => unknown} list @param {ToolSpec[]} tools */
async function timeList(list, tools) {
  const { cpuMs, value } = await timed(list);
  if (/** @type {unknown[]} */ (value).length !== tools.length) {
    throw new Error("the list lost tools");
  }
  return cpuMs;
}
