// Latency hiding on the real clock (SCHED-8): ten readonly calls arrive 100 ms apart while the model
// streams; the first takes 1 s, the others 300 ms. The floor is an executor that waits for the stream to end.

import { makeCall, makeTools } from "../workload.mjs";

/** @import { Benchmark } from "./index.mjs" */
/** @import { Session, StreamedTurn } from "../subjects/index.mjs" */
/** @import { Call, ToolSpec } from "../workload.mjs" */

/** @type {Benchmark} */
export const stream = {
  id: "stream",
  title:
    "A streamed turn on the real clock (ideal: 1.3 s, and 2.0 s with a second of text after it)",
  subjects: ["floor-json", "soong"],
  slow: ["floor-json"],
  floor: "floor-json",
  rounds: { full: 3, quick: 1 },
  metrics: [
    { id: "calls", title: "calls to the end of the stream", unit: "ms" },
    { id: "calls-ideal", title: "the same / ideal 1.3 s", unit: "×" },
    { id: "text", title: "a second of text after the last call", unit: "ms" },
    { id: "text-ideal", title: "the same / ideal 2.0 s", unit: "×" },
  ],
  async prepare(subject) {
    const tools = makeTools(1, "timer");
    const installed = await subject.create({ tools, parallel: true });
    const tool = /** @type {ToolSpec} */ (tools[0]);
    const calls = Array.from({ length: 10 }, (_, index) =>
      makeCall(index, tool, index === 0 ? 1_000 : 300),
    );
    // A first call outside the clock: compiling the schema is not what is measured here.
    await (await installed.session()).turn([makeCall(0, tool, 1)]);
    /** @param {number} textMs */
    const measure = async (textMs) => {
      const session = await installed.session();
      const start = performance.now();
      const until = (/** @type {number} */ ms) =>
        new Promise((resolve) => {
          setTimeout(resolve, start + ms - performance.now());
        });
      const turn = session.openTurn?.() ?? waitingTurn(session);
      for (const [index, call] of calls.entries()) {
        await until((index + 1) * 100);
        turn.push(call);
      }
      await until(1_000 + textMs);
      turn.end();
      const results = await turn.results();
      if (results.length !== calls.length) throw new Error(`${results.length} results`);
      return performance.now() - start;
    };
    return {
      remarks: [],
      async round() {
        const [calls, text] = [await measure(0), await measure(1_000)];
        const values = { calls, text, "calls-ideal": calls / 1_300, "text-ideal": text / 2_000 };
        return { values };
      },
      close: installed.close,
    };
  },
};

/** @param {Session} session @returns {StreamedTurn} */
function waitingTurn(session) {
  /** @type {Call[]} */
  const calls = [];
  return {
    push: (call) => void calls.push(call),
    end() {},
    results: () => session.turn(calls),
  };
}
