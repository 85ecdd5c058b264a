// The one job every subject is given: tools with three arguments and a small result, and calls
// whose arguments are JSON text, as a model writes them. Equal for all, or ratios mean nothing.

/**
 * @import { Installed, NextTurn, Subject } from "./subjects/index.mjs"
 *
 * @typedef {"none" | "microtask" | "macrotask" | "timer"} Wait  what a handler awaits before it
 *   answers; "timer" waits `limit` milliseconds
 * @typedef {{ path: string, limit: number, recursive: boolean }} Input
 * @typedef {{ note: string, count: number, more: boolean }} Output
 * @typedef {object} ToolSpec
 * @property {string} name  canonical, dotted
 * @property {string} wireName  what a provider would see
 * @property {string} description
 * @property {Record<string, unknown>} schema  JSON Schema
 * @property {(input: Input) => Promise<Output>} handler
 * @typedef {{ id: string, name: string, wireName: string, args: string, input: Input }} Call
 *   `args` is the JSON text of the model; `input` the same parsed, which only the bare floor may use
 * @typedef {{ installed: Installed, calls: Call[], remarks: string[] }} Kit  a subject ready to be measured
 */

/** @param {number} count @param {Wait} [wait] @returns {ToolSpec[]} */
export function makeTools(count, wait = "none") {
  return Array.from({ length: count }, (_, index) => ({
    name: `bench.lookup_${index}`,
    wireName: `bench__lookup_${index}`,
    description: `Looks up files of collection ${index} and says how many there are.`,
    schema: {
      type: "object",
      properties: {
        path: { type: "string", description: `Where to look in collection ${index}.` },
        limit: { type: "integer", description: "How many to return at most." },
        recursive: { type: "boolean", description: "Whether to look in folders below." },
      },
      required: ["path", "limit", "recursive"],
      additionalProperties: false,
    },
    handler: handlers[wait],
  }));
}

/**
 * The schema of every tool again, for the peers that check arguments with Zod only.
 * @param {typeof import("zod").z} z  the peer's own copy
 * @param {number} index
 */
export function zodInput(z, index) {
  return z.strictObject({
    path: z.string().describe(`Where to look in collection ${index}.`),
    limit: z.int().describe("How many to return at most."),
    recursive: z.boolean().describe("Whether to look in folders below."),
  });
}

/**
 * The calls of one model turn, spread evenly over ten of the tools (fewer if there are fewer), the
 * last one included, so that a linear search for the tool shows.
 * @param {number} count @param {ToolSpec[]} tools @returns {Call[]}
 */
export function makeCalls(count, tools) {
  const used = Math.min(10, tools.length);
  return Array.from({ length: count }, (_, index) => {
    const slot = (index % used) + 1;
    const tool = /** @type {ToolSpec} */ (tools[Math.ceil((slot * tools.length) / used) - 1]);
    return makeCall(index, tool, index);
  });
}

/**
 * The same calls for the ten turns of a session, under ids that do not repeat.
 * @param {Call[]} calls @returns {Call[][]}
 */
export function tenTurns(calls) {
  return Array.from({ length: 10 }, (_, turn) =>
    calls.map((call) => ({ ...call, id: `${call.id}_${turn}` })),
  );
}

/** @param {number} index @param {ToolSpec} tool @param {number} limit @returns {Call} */
export function makeCall(index, tool, limit) {
  const input = { path: pathOf(index), limit, recursive: index % 2 === 0 };
  const { name, wireName } = tool;
  return { id: `call_${index}`, name, wireName, args: JSON.stringify(input), input };
}

/**
 * Bytes of what a turn of one call adds to a conversation: the call and its result as JSON messages.
 * @param {Call} call @param {Output} [output]
 */
export function bytesOfMessages({ id, wireName: name, args, input }, output = answer(input)) {
  const messages = [
    { role: "assistant", tool_calls: [{ id, name, arguments: args }] },
    { role: "tool", tool_call_id: id, content: JSON.stringify(output) },
  ];
  return Buffer.byteLength(JSON.stringify(messages));
}

/**
 * A subject with its tools registered, the calls of one turn, and what it was seen to leave out.
 * @param {Subject} subject
 * @param {{ tools?: number, wait?: Wait, parallel?: boolean }} [options]
 * @returns {Promise<Kit>}
 */
export async function install(subject, { tools: count = 10, wait, parallel = false } = {}) {
  const tools = makeTools(count, wait);
  const calls = makeCalls(100, tools);
  const installed = await subject.create({ tools, parallel });
  return { installed, calls, remarks: await proveWork(await installed.session(), calls) };
}

/** A loop's turns when there is only one. @param {Call[]} calls @returns {NextTurn} */
export function oneTurn(calls) {
  const turns = [calls];
  return () => turns.pop();
}

/**
 * Proves once that a loop runs every call of every turn, and ends.
 * @param {Subject} subject
 */
export async function proveLoop(subject) {
  const turns = 3;
  let ran = 0;
  const tools = makeTools(10).map((tool) => ({
    ...tool,
    /** @param {Input} input */
    handler: (input) => {
      ran += 1;
      return tool.handler(input);
    },
  }));
  const { loop, close } = await subject.create({ tools, parallel: false });
  if (!loop) throw new Error("has no loop of its own");
  const ahead = tenTurns(makeCalls(10, tools)).slice(0, turns);
  await loop(() => ahead.shift());
  await close?.();
  if (ran !== turns * 10) throw new Error(`${ran} calls of ${turns * 10} in ${turns} turns`);
}

/**
 * Proves once, before anything is timed, that a subject really runs the job: every call answered by
 * its handler, and a call with a wrong type kept from it. A subject that skips the check is marked.
 * @param {{ turn(calls: Call[]): Promise<unknown[]> }} session
 * @param {Call[]} calls
 * @returns {Promise<string[]>} remarks for the table
 */
async function proveWork(session, calls) {
  const results = await session.turn(calls);
  if (results.length !== calls.length)
    throw new Error(`${results.length} results for ${calls.length} calls`);
  for (const [index, result] of results.entries()) {
    if (!answered(result, index)) throw new Error(`call ${index} answered ${show(result)}`);
  }
  const first = /** @type {Call} */ (calls[0]);
  const input = /** @type {Input} */ ({ ...first.input, limit: /** @type {unknown} */ ("many") });
  const wrong = { ...first, id: "call_wrong", args: JSON.stringify(input), input };
  const refused = await session.turn([wrong]).then(
    (answers) => !answered(answers[0], 0),
    () => true,
  );
  return refused ? [] : ["does not validate arguments"];
}

/** @param {unknown} result @param {number} index */
const answered = (result, index) => show(result).includes(noteOf(pathOf(index)));

/** @param {unknown} value */
const show = (value) => JSON.stringify(value) ?? String(value);

/** @param {number} index */
const pathOf = (index) => `src/file-${index}.ts`;

/** @param {string} path */
const noteOf = (path) => `looked into ${path} once`;

/** @type {Record<Wait, (input: Input) => Promise<Output>>} */
const handlers = {
  none: async (input) => answer(input),
  microtask: async (input) => {
    await Promise.resolve();
    return answer(input);
  },
  macrotask: async (input) => {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    return answer(input);
  },
  timer: async (input) => {
    await new Promise((resolve) => {
      setTimeout(resolve, input.limit);
    });
    return answer(input);
  },
};

/** @param {Input} input @returns {Output} */
export function answer({ path, limit, recursive }) {
  return { note: noteOf(path), count: limit + 1, more: recursive };
}
