// Who is measured. A subject does the workload with one runtime; this page says what it must offer
// and where each one lives. A peer lives beside its own package.json, so its imports resolve there.

/**
 * @import { Call, ToolSpec } from "../workload.mjs"
 *
 * @typedef {object} Subject
 * @property {(options: { tools: ToolSpec[], parallel: boolean }) => Promise<Installed>} create
 *   define and register the tools. `parallel` says that the calls of a turn must overlap without limit
 *
 * @typedef {object} Installed
 * @property {() => Promise<Session>} session  a fresh conversation over the registered tools
 * @property {() => unknown} [resolve]  compute from scratch which tools a run may see
 * @property {() => unknown} [list]  the tool list one model request carries; an array, or a promise of one
 * @property {(next: NextTurn) => Promise<void>} [loop]
 *   for a runtime that owns the loop: run until `next` gives no more calls, keeping its history.
 *   Without it the harness calls `turn` of one session again and again
 * @property {() => unknown} [close]
 *
 * @typedef {object} Session
 * @property {(calls: Call[]) => Promise<unknown[]>} turn  run the calls of one model turn: one result each, in order
 * @property {() => StreamedTurn} [openTurn]  the same, call by call while the model still streams
 * @property {() => unknown} [close]
 *
 * @typedef {() => Call[] | undefined} NextTurn  asked once when each turn begins
 * @typedef {{ push(call: Call): void, end(): void, results(): Promise<unknown[]> }} StreamedTurn
 *
 * @typedef {object} Entry
 * @property {string} title
 * @property {string} [peer]  folder under bench/peers to install first
 * @property {() => Promise<Subject>} load
 */

/** @type {Record<string, Entry>} */
export const subjects = {
  floor: {
    title: "floor (validator + handler)",
    load: async () => (await import("./floor.mjs")).floor,
  },
  "floor-json": {
    title: "floor, JSON in and out",
    load: async () => (await import("./floor.mjs")).floorJson,
  },
  soong: {
    title: "Soong",
    load: async () => (await import("./soong.mjs")).soong,
  },
  "soong-loop": {
    title: "Soong loop",
    load: async () => (await import("./soong-loop.mjs")).soongLoop,
  },
  pi: fromPeer("pi", "pi", "pi agent loop"),
  "openai-invoke": fromPeer("openai-agents", "openaiInvoke", "OpenAI Agents tool.invoke"),
  mcp: fromPeer("mcp", "mcp", "MCP SDK in memory"),
  "ai-sdk": fromPeer("ai-sdk", "aiSdk", "AI SDK generateText"),
  langgraph: fromPeer("langgraph", "langgraph", "LangGraph ToolNode"),
  "langgraph-agent": fromPeer("langgraph", "langgraphAgent", "LangGraph createReactAgent"),
  mastra: fromPeer("mastra", "mastra", "Mastra Agent"),
  "openai-runner": fromPeer("openai-agents", "openaiRunner", "OpenAI Agents runner"),
};

/** @param {string} peer @param {string} name  what its subject.mjs exports @param {string} title @returns {Entry} */
function fromPeer(peer, name, title) {
  return {
    title,
    peer,
    async load() {
      /** @type {unknown} */
      const module = await import(`../peers/${peer}/subject.mjs`);
      const subject = /** @type {Record<string, Subject>} */ (module)[name];
      if (!subject) throw new Error(`peers/${peer}/subject.mjs does not export ${name}`);
      return subject;
    },
  };
}
