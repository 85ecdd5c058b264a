// The AI SDK's loop with the bridge and without, on a scripted model in the process: the streamed turn of SCHED-8 on the real
// clock, and what the bridge adds to a quick call.

import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { root } from "../../scripts/setup.mjs";
import { paired } from "../paired.mjs";
import { scriptedAnswer } from "../peers/scripted-answer.mjs";
import { installPeer } from "../setup.mjs";
import { makeCall, makeCalls, makeTools } from "../workload.mjs";

/**
 * @import { Report, ReportRow } from "./index.mjs"
 * @import { Call, ToolSpec } from "../workload.mjs"
 *
 * @typedef {object} Sdk  what is used of either version
 * @property {(options: object) => Promise<unknown>} generateText
 * @property {(options: object) => { consumeStream(): Promise<unknown> }} streamText
 * @property {(tool: object) => unknown} dynamicTool
 * @property {(schema: object) => unknown} jsonSchema
 * @property {() => unknown} isLoopFinished
 *
 * @typedef {(tools: ToolSpec[], model: object) => Promise<object>} Prepare  the options of one conversation
 * @typedef {{ name: string, prepare: Prepare }} Way
 */

const VERSIONS = [6, 7];
const WAYS = /** @type {const} */ (["bare", "bridge"]);
const IDEAL_MS = 1_300;
const TURNS = 10;
const CALLS = 100;

/** @param {number} version @param {string} what @param {string} way */
const rowName = (version, what, way) => `AI SDK ${version}, ${what}, ${way}`;
const STREAMED = "streamed turn, ideal 1300 ms";
const QUICK = "a quick call";

/** @type {Report} */
export const bridgeAiSdk = {
  id: "bridge-ai-sdk",
  title: "The AI SDK with the bridge: a streamed turn, and a call of 100 in an answer",
  rows: VERSIONS.flatMap((version) =>
    [STREAMED, QUICK].flatMap((what) => WAYS.map((way) => rowName(version, what, way))),
  ),
  async report({ quick }) {
    const rows = [];
    for (const version of VERSIONS) {
      const sdk = await loadSdk(version);
      const ways = await openWays(sdk);
      rows.push(...(await measureStream(version, sdk, ways, quick ? 1 : 5)));
      rows.push(...(await measureCalls(version, sdk, ways, quick ? 5 : 25)));
    }
    return rows;
  },
};

/** @param {number} version @returns {Promise<Sdk>} */
async function loadSdk(version) {
  const folder = `test/bridge/peers/ai-sdk-${version}`;
  const failure = await installPeer(folder, () => {});
  if (failure !== undefined) throw new Error(`AI SDK ${version} is not installed: ${failure}`);
  const { resolve } = createRequire(join(root, folder, "package.json"));
  return /** @type {Promise<Sdk>} */ (import(pathToFileURL(resolve("ai")).href));
}

/** @param {Sdk} sdk @returns {Promise<Way[]>} */
async function openWays({ dynamicTool, jsonSchema }) {
  const { createKernel, defineTool } = await import("@soong/core");
  const { bridgeAiSdk: bridge } = await import("@soong/bridge/ai-sdk");
  return [
    {
      name: "bare",
      prepare: async (specs, model) => {
        /** @type {Record<string, unknown>} */
        const tools = {};
        for (const { wireName, description, schema, handler: execute } of specs) {
          tools[wireName] = dynamicTool({ description, inputSchema: jsonSchema(schema), execute });
        }
        return { model, tools };
      },
    },
    {
      name: "bridge",
      prepare: async (specs, model) => {
        const tools = specs.map(({ name, description, schema, handler }) =>
          defineTool({
            name,
            description,
            input_schema: schema,
            permission: "readonly",
            concurrency_safe: true,
            handler,
          }),
        );
        const { tools: bridged, model: wrap } = await bridge(
          await createKernel({ tools }).startRun(),
        );
        return { model: wrap(/** @type {Parameters<typeof wrap>[0]} */ (model)), tools: bridged };
      },
    },
  ];
}

/** @param {number} version @param {Sdk} sdk @param {Way[]} ways @param {number} rounds @returns {Promise<ReportRow[]>} */
async function measureStream(version, { streamText, isLoopFinished }, ways, rounds) {
  const tools = makeTools(1, "timer");
  const [tool] = /** @type {[ToolSpec]} */ (tools);
  /** @param {number} apartMs */
  const callsOf = (apartMs) =>
    Array.from({ length: 10 }, (_, at) => makeCall(at, tool, apartMs * (at === 0 ? 10 : 3)));
  const rows = await paired(
    ways.map(({ name, prepare }) => ({
      name: rowName(version, STREAMED, name),
      async time() {
        const play = async (/** @type {number} */ apartMs) => {
          const options = await prepare(tools, streamingModel(callsOf(apartMs), apartMs));
          const begun = performance.now();
          await streamText({
            ...options,
            prompt: "go",
            stopWhen: isLoopFinished(),
          }).consumeStream();
          return performance.now() - begun;
        };
        // Outside the clock: compiling is not what is measured here.
        await play(0);
        return play(100);
      },
    })),
    { rounds, unit: "ms" },
  );
  return rows.map(({ note, ...row }) => {
    const ratio = (Number(row.value) / IDEAL_MS).toFixed(3);
    return { ...row, note: `${ratio} × ideal, ${note}` };
  });
}

/** @param {number} version @param {Sdk} sdk @param {Way[]} ways @param {number} rounds @returns {Promise<ReportRow[]>} */
async function measureCalls(version, { generateText, isLoopFinished }, ways, rounds) {
  const tools = makeTools(10);
  const calls = makeCalls(CALLS, tools);
  const rows = await paired(
    ways.map(({ name, prepare }) => ({
      name: rowName(version, QUICK, name),
      async run() {
        const options = await prepare(tools, generatingModel(calls));
        await generateText({ ...options, prompt: "go", stopWhen: isLoopFinished() });
      },
    })),
    { rounds, unit: "µs", per: TURNS * CALLS, cpu: true },
  );
  const [bare, bridged] = rows;
  if (bare === undefined || bridged === undefined) return rows;
  const added = (Number(bridged.value) - Number(bare.value)).toFixed(1);
  return [bare, { ...bridged, note: `${bridged.note}, ${added} µs more` }];
}

/** @param {Call[]} calls @param {number} apartMs */
function streamingModel(calls, apartMs) {
  let requests = 0;
  return {
    ...MODEL,
    async doStream() {
      requests += 1;
      return { stream: requests === 1 ? streamCalls(calls, apartMs) : streamCalls([], 0) };
    },
  };
}

/** By the clock, however long the reader takes. @param {Call[]} calls @param {number} apartMs */
function streamCalls(calls, apartMs) {
  const { content, reason } = scriptedAnswer(calls.length === 0 ? undefined : calls);
  const begun = performance.now();
  return new ReadableStream({
    async start(controller) {
      controller.enqueue({ type: "stream-start", warnings: [] });
      for (const [at, part] of content.entries()) {
        const ms = begun + (at + 1) * apartMs - performance.now();
        if (apartMs > 0) await sleep(ms);
        if (part.type === "tool-call") controller.enqueue(part);
      }
      const finishReason = { unified: reason, raw: reason };
      controller.enqueue({ type: "finish", finishReason, usage: USAGE });
      controller.close();
    },
  });
}

/** @param {Call[]} calls */
function generatingModel(calls) {
  let requests = 0;
  return {
    ...MODEL,
    async doGenerate() {
      requests += 1;
      const turn = calls.map((call) => ({ ...call, id: `${requests}-${call.id}` }));
      const { content, reason } = scriptedAnswer(requests <= TURNS ? turn : undefined);
      return {
        content,
        finishReason: { unified: reason, raw: reason },
        usage: USAGE,
        warnings: [],
      };
    },
  };
}

const MODEL = {
  specificationVersion: "v3",
  provider: "scripted",
  modelId: "scripted",
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error("it streams")),
  doStream: () => Promise.reject(new Error("it does not stream")),
};
const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
