// A server with 2 000 tools: how long until the model is asked for the first time, what its list of tools costs in
// tokens, all loaded or found by search, and what it costs in memory. The floor is the SDK's client listing it.

import { connectDirectly, openRuntime, openSessionOn, serverOf } from "../mcp/stage.mjs";
import { liveHeap } from "../measure.mjs";
import { paired } from "../paired.mjs";
import { withHome } from "../store.mjs";

/**
 * @import { Model, ModelRequest } from "@soong/agent"
 * @import { KernelOptions } from "@soong/core"
 * @import { Report, ReportRow } from "./index.mjs"
 */

const TOOLS = 2_000;
const JOURNALS = /** @type {const} */ (["memory", "disk"]);

/** @type {Report} */
export const mcpStart = {
  id: "mcp-start",
  title: `A server with ${TOOLS} tools: to the first model request, against the SDK's client listing it`,
  report: ({ quick }) =>
    withHome(async (home) => {
      // First, while nothing else has left anything behind.
      const live = await memory(home);
      const times = await paired(
        [
          { name: "SDK client: start the server, list", run: listDirectly },
          { name: "Soong: start the server, list, register", run: () => listed(home) },
          ...JOURNALS.map((journal) => ({
            name: `Soong: … and the first request, ${IN[journal]}`,
            run: () => firstRequest(home, journal),
          })),
        ],
        { rounds: quick ? 3 : 10, unit: "ms" },
      );
      return [...times, ...(await tokens(home)), ...live];
    }),
};

const IN = { memory: "in memory", disk: "on disk" };

async function listDirectly() {
  const client = await connectDirectly(...serverOf(TOOLS));
  const { tools } = await client.listTools();
  if (tools.length !== TOOLS) throw new Error(`${tools.length} tools were listed`);
  // Its end is not what is measured; the process goes with its pipe.
  void client.close();
}

/** @param {string} home */
async function listed(home) {
  const runtime = await openRuntime(home, TOOLS);
  void runtime.close();
}

/**
 * Settles when the model is asked; the run and the server end by themselves after that.
 *
 * @param {string} home @param {"memory" | "disk"} journal @param {KernelOptions} [options]
 * @returns {Promise<ModelRequest>}
 */
async function firstRequest(home, journal, options) {
  const runtime = await openRuntime(home, TOOLS, options);
  const { session, close } = await openSessionOn(runtime, home, journal);
  const { openConversation, scriptedModel } = await import("@soong/agent");
  const scripted = scriptedModel({ turns: [{ text: "Done." }] });
  // As many tools as there are: how many a provider takes is not what is compared.
  const { max_tools: _limit, ...profile } = scripted.profile;
  /** @type {(request: ModelRequest) => void} */
  let asked = () => {};
  /** @type {Promise<ModelRequest>} */
  const request = new Promise((resolve) => {
    asked = resolve;
  });
  /** @type {Model} */
  const model = {
    ...scripted,
    profile,
    stream(given, signal) {
      asked(given);
      return scripted.stream(given, signal);
    },
  };
  const conversation = await openConversation({ session, models: [model] });
  const finish = () => close().then(runtime.close);
  void conversation.send("Begin.").end.then(finish, finish);
  return request;
}

/**
 * As the first request carries it, in characters over four.
 *
 * @param {string} home
 * @returns {Promise<ReportRow[]>}
 */
async function tokens(home) {
  const everything = { config: { tools: { defer_budget_tokens: Number.MAX_SAFE_INTEGER } } };
  const all = await firstRequest(home, "memory", everything);
  const deferred = await firstRequest(home, "memory");
  const [loaded, left] = [inTokens(all.tools), inTokens(deferred.tools)];
  const names = inTokens(deferred.system) - inTokens(all.system);
  const share = ((100 * (left + names)) / loaded).toFixed(1);
  return [
    {
      name: "tool list, all loaded",
      value: loaded,
      unit: "tokens",
      note: `${all.tools.length} tools`,
    },
    {
      name: "tool list, the rest found by search",
      value: left + names,
      unit: "tokens",
      note: `${share} % of that; ${deferred.tools.length} tools, ${names} tokens of names`,
    },
  ];
}

/** @param {unknown} list */
const inTokens = (list) => Math.ceil(JSON.stringify(list).length / 4);

/** @param {string} home @returns {Promise<ReportRow[]>} */
async function memory(home) {
  // Code is not counted.
  await (await openRuntime(home, 1)).close();
  const before = liveHeap();
  const runtime = await openRuntime(home, TOOLS);
  const registered = liveHeap();
  const { session, close } = await openSessionOn(runtime, home, "memory");
  const run = await session.startRun();
  await run.tools();
  const started = liveHeap();
  await close();
  await runtime.close();
  const perTool = (/** @type {number} */ bytes) => `${Math.round(bytes / TOOLS)} bytes a tool`;
  return [
    {
      name: "live heap: connected and registered",
      value: (registered - before) / 1e6,
      unit: "MB",
      note: perTool(registered - before),
    },
    {
      name: "live heap: … and a run with its record in memory",
      value: (started - before) / 1e6,
      unit: "MB",
      note: perTool(started - before),
    },
  ];
}
