// What a call of a server's tool costs through our client, and through our gateway and client, against the SDK's own
// client asking the same server over stdio. The record is in memory, or on disk.

import { join } from "node:path";
import { mkdir } from "node:fs/promises";
import {
  connectDirectly,
  FIRST_TOOL,
  gatewayAt,
  openRuntime,
  openSessionOn,
  serverOf,
} from "../mcp/stage.mjs";
import { median, paired } from "../paired.mjs";
import { withHome } from "../store.mjs";

/**
 * @import { Contender } from "../paired.mjs"
 * @import { Report, ReportRow } from "./index.mjs"
 */

const JOURNALS = /** @type {const} */ (["memory", "disk"]);

/** @type {Report} */
export const mcpCall = {
  id: "mcp-call",
  title: "A call over stdio, against the SDK's client (aim: 1.3 × for our client)",
  report: ({ quick }) =>
    withHome(async (home) => {
      const calls = quick ? 200 : 500;
      const direct = await connectDirectly(...serverOf(1));
      const contenders = [{ name: "SDK client", run: repeat(calls, () => askClient(direct)) }];
      /** @type {(() => Promise<unknown>)[]} */
      const closes = [() => direct.close()];
      for (const journal of JOURNALS) {
        const folder = join(home, journal);
        await mkdir(folder);
        const client = await openClient(folder, journal);
        closes.push(client.close);
        contenders.push({ name: `our client, ${IN[journal]}`, run: () => client.run(calls) });
      }
      for (const journal of JOURNALS) {
        const folder = join(home, `gateway-${journal}`);
        await mkdir(folder);
        const gateway = await connectDirectly(...gatewayAt(folder, journal));
        closes.push(() => gateway.close());
        contenders.push({
          name: `SDK client, our gateway, our client, ${IN[journal]}`,
          run: repeat(calls, () => askClient(gateway, `mcp__bench__${FIRST_TOOL}`)),
        });
      }
      // The compiler needs some thousand calls of the whole path to be done with it.
      for (const { run } of contenders) for (let i = 0; i < (quick ? 3 : 8); i += 1) await run();
      const rows = await paired(contenders, { rounds: quick ? 8 : 30, unit: "µs", per: calls });
      const own = contenders.filter(({ name }) => !name.includes("gateway"));
      rows.push(...(await cpuOf(own, { rounds: quick ? 5 : 15, calls })));
      for (const close of closes) await close();
      return rows;
    }),
};

/**
 * What a call takes of the caller's own process: other programs disturb that less, and the server is not in it.
 *
 * @param {Contender[]} contenders the first one is the floor
 * @param {{ rounds: number, calls: number }} options
 * @returns {Promise<ReportRow[]>}
 */
async function cpuOf(contenders, { rounds, calls }) {
  /** @type {number[][]} */
  const times = contenders.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { run }] of contenders.entries()) {
      const before = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(before);
      times[index]?.push((user + system) / calls);
    }
  }
  const floor = times[0] ?? [];
  return contenders.map(({ name }, index) => {
    const own = times[index] ?? [];
    const ratio = median(own.map((time, round) => time / (floor[round] ?? Number.NaN)));
    const note = index === 0 ? "the floor" : `${ratio.toFixed(2)} × floor`;
    return { name: `CPU of the caller: ${name}`, value: median(own), unit: "µs", note };
  });
}

const IN = { memory: "in memory", disk: "on disk" };
const INPUT = { path: "src/file-1.ts", limit: 10 };

/** @param {number} times @param {() => Promise<unknown>} call */
function repeat(times, call) {
  return async () => {
    for (let i = 0; i < times; i += 1) await call();
  };
}

/** @param {Awaited<ReturnType<typeof connectDirectly>>} client */
async function askClient(client, name = FIRST_TOOL) {
  const { content, isError } = await client.callTool({ name, arguments: INPUT });
  const [block] = content;
  if (isError || block?.type !== "text" || !block.text.includes(" looked into ")) {
    throw new Error(`${name} was answered with ${JSON.stringify(content)}`);
  }
}

/** @param {string} home @param {"memory" | "disk"} journal */
async function openClient(home, journal) {
  const runtime = await openRuntime(home, 1);
  return {
    /** In a session of its own, as long as a conversation is: what a runtime records is not kept for ever. */
    async run(/** @type {number} */ calls) {
      const { session, close } = await openSessionOn(runtime, home, journal);
      const run = await session.startRun();
      for (let i = 0; i < calls; i += 1) {
        const { status, summary } = await run.call(`mcp.bench.${FIRST_TOOL}`, INPUT);
        if (status !== "succeeded") throw new Error(summary);
      }
      run.end("completed");
      await close();
    },
    close: runtime.close,
  };
}
