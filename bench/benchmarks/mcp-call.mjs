// What a call of a server's tool costs over stdio: through our client, and through our gateway and client, against
// the SDK's own client asking the same server, and against a gateway of the SDK that only passes calls on. One call
// at a time, and sixteen; by the clock, and by the CPU time of all processes that take part.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { cpuTime, processes } from "../mcp/cpu.mjs";
import {
  connectDirectly,
  FIRST_TOOL,
  gatewayAt,
  openRuntime,
  openSessionOn,
  proxyOf,
  serverOf,
} from "../mcp/stage.mjs";
import { median, pairedRatio } from "../statistics.mjs";
import { withHome } from "../store.mjs";

/**
 * @import { Report, ReportRow } from "./index.mjs"
 *
 * @typedef {object} Contender
 * @property {string} name
 * @property {(calls: number, together: number) => Promise<void>} run
 * @property {() => Promise<unknown>} [renew]  before what is measured
 * @property {() => Promise<unknown>} close
 * @property {number[]} processes  that take part, this one too
 *
 * @typedef {Pick<Contender, "run" | "renew" | "close">} Opened
 * @typedef {Record<"clock" | "caller" | "all", number>} Costs  µs a call: the clock, CPU of the caller, CPU of all
 */

const JOURNALS = /** @type {const} */ (["memory", "disk"]);
const IN = { memory: "in memory", disk: "on disk" };
const INPUT = { path: "src/file-1.ts", limit: 10 };
const TOGETHER = [1, 16];
const PROXY = "SDK client, bare SDK proxy";

/** @param {number} together @param {string} name */
const rowName = (together, name) => `${together} at once: ${name}`;
/** @param {typeof JOURNALS[number]} journal */
const gatewayName = (journal) => `SDK client, our gateway, our client, ${IN[journal]}`;

/** @type {Report} */
export const mcpCall = {
  id: "mcp-call",
  title: "A call over stdio, against the SDK's client",
  rows: TOGETHER.flatMap((together) =>
    [PROXY, gatewayName("disk")].map((name) => rowName(together, name)),
  ),
  report: ({ quick }) =>
    withHome(async (home) => {
      const contenders = await openAll(home);
      const rows = [];
      for (const together of TOGETHER) rows.push(...(await measure(contenders, together, quick)));
      for (const { close } of contenders) await close();
      return rows;
    }),
};

/** @param {string} home @returns {Promise<Contender[]>} the first one is the floor */
async function openAll(home) {
  const contenders = [await opened("SDK client", () => openDirect(serverOf(1), FIRST_TOOL))];
  for (const journal of JOURNALS) {
    contenders.push(await opened(`our client, ${IN[journal]}`, () => openOurs(home, journal)));
  }
  contenders.push(await opened(PROXY, () => openDirect(proxyOf(1), FIRST_TOOL)));
  for (const journal of JOURNALS) {
    contenders.push(await opened(gatewayName(journal), () => openGateway(home, journal)));
  }
  return contenders;
}

/**
 * Knows the processes of one by their not having been there before.
 *
 * @param {string} name @param {() => Promise<Opened>} open
 * @returns {Promise<Contender>}
 */
async function opened(name, open) {
  const before = new Set(processes());
  const contender = await open();
  const started = processes().filter((pid) => !before.has(pid));
  return { name, ...contender, processes: [process.pid, ...started] };
}

/** @param {Contender[]} contenders @param {number} together @param {boolean} quick @returns {Promise<ReportRow[]>} */
async function measure(contenders, together, quick) {
  const calls = quick ? 80 : 320;
  // The compiler needs some thousand calls of the whole path to be done with it.
  for (const { renew, run } of contenders) {
    await renew?.();
    await run(quick ? 320 : 3200, together);
  }
  /** @type {Costs[][]} */
  const costs = contenders.map(() => []);
  for (let round = 0; round < (quick ? 5 : 25); round += 1) {
    for (const [index, contender] of contenders.entries()) {
      costs[index]?.push(await costOf(contender, calls, together));
    }
  }
  const proxy = contenders.findIndex(({ name }) => name === PROXY);
  return contenders.map(({ name }, index) => {
    const own = costs[index] ?? [];
    const ratios = index === 0 ? ["the floor"] : [ratioOf(own, costs[0], "floor")];
    if (index > proxy) ratios.push(ratioOf(own, costs[proxy], "bare proxy"));
    const cpu = `CPU ${middle(own, "all")} µs, ${middle(own, "caller")} of it the caller's`;
    const series = own.map(({ clock }) => clock);
    return {
      name: rowName(together, name),
      value: median(series),
      unit: "µs",
      series,
      note: [...ratios, cpu].join("; "),
    };
  });
}

/** @param {Contender} contender @param {number} calls @param {number} together @returns {Promise<Costs>} */
async function costOf({ renew, run, processes: taking }, calls, together) {
  await renew?.();
  const before = taking.map((pid) => cpuTime(pid));
  const begun = performance.now();
  await run(calls, together);
  const clock = ((performance.now() - begun) * 1000) / calls;
  const cpu = taking.map((pid, index) => (cpuTime(pid) - (before[index] ?? 0)) / calls);
  return { clock, caller: cpu[0] ?? 0, all: cpu.reduce((sum, time) => sum + time, 0) };
}

/**
 * Round by round: what was measured within the same second shares the machine's mood.
 *
 * @param {Costs[]} own @param {Costs[] | undefined} other @param {string} what
 */
function ratioOf(own, other, what) {
  const [clock, cpu] = /** @type {const} */ (["clock", "all"]).map((cost) =>
    pairedRatio(
      own.map((costs) => costs[cost]),
      other?.map((costs) => costs[cost]),
    ),
  );
  return `${clock?.toFixed(2)} × ${what}, ${cpu?.toFixed(2)} × its CPU`;
}

/** @param {Costs[]} costs @param {keyof Costs} cost */
function middle(costs, cost) {
  return Math.round(median(costs.map((one) => one[cost])));
}

/** @param {string[]} server arguments of Node @param {string} tool @returns {Promise<Opened>} */
async function openDirect(server, tool) {
  const client = await connectDirectly(...server);
  return {
    run: (calls, together) =>
      repeat(calls, together, async () => {
        const { content, isError } = await client.callTool({ name: tool, arguments: INPUT });
        const [block] = content;
        if (isError || block?.type !== "text" || !block.text.includes(" looked into ")) {
          throw new Error(`${tool} was answered with ${JSON.stringify(content)}`);
        }
      }),
    close: () => client.close(),
  };
}

/** @param {string} home @param {"memory" | "disk"} journal */
async function openGateway(home, journal) {
  const folder = join(home, `gateway-${journal}`);
  await mkdir(folder);
  return openDirect(gatewayAt(folder, journal), `mcp__bench__${FIRST_TOOL}`);
}

/** @param {string} home @param {"memory" | "disk"} journal @returns {Promise<Opened>} */
async function openOurs(home, journal) {
  const folder = join(home, journal);
  await mkdir(folder);
  const runtime = await openRuntime(folder, 1);
  let current = await openRun();
  return {
    /** A session as long as a conversation is: what a runtime records is not kept for ever. */
    async renew() {
      await current.end();
      current = await openRun();
    },
    run: (calls, together) =>
      repeat(calls, together, async () => {
        const { status, summary } = await current.run.call(`mcp.bench.${FIRST_TOOL}`, INPUT);
        if (status !== "succeeded") throw new Error(summary);
      }),
    async close() {
      await current.end();
      await runtime.close();
    },
  };

  async function openRun() {
    const { session, close } = await openSessionOn(runtime, folder, journal);
    const run = await session.startRun();
    return {
      run,
      async end() {
        run.end("completed");
        await close();
      },
    };
  }
}

/** @param {number} times @param {number} together @param {() => Promise<void>} call */
async function repeat(times, together, call) {
  let left = times;
  const worker = async () => {
    while ((left -= 1) >= 0) await call();
  };
  await Promise.all(Array.from({ length: together }, worker));
}
