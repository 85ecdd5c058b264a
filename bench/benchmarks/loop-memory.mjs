// The memory of a long conversation whose facts are on disk: what a turn leaves on the heap against the bytes of its
// messages, and the most that the process ever had.

import { perTurn, heapPerTurn, timeTurns } from "../turns.mjs";
import { withHome } from "../store.mjs";
import { answer, bytesOfMessages, makeCalls, makeTools } from "../workload.mjs";

/**
 * @import { Input } from "../workload.mjs"
 * @import { Report } from "./index.mjs"
 */

const RESIDENT = "most memory of the process, 10 000 turns";
const SMALL = "live heap / bytes of the messages, small results";
const LARGE = "live heap / bytes of the messages, results of 2 kB";

/** @type {Report} */
export const loopMemory = {
  id: "loop-memory",
  title: "Memory of a long conversation on disk (quick: 3 000 turns)",
  rows: [RESIDENT, SMALL, LARGE],
  report: ({ quick }) =>
    withHome(async (home) => {
      const { openStore } = await import("@soong/store");
      const { createLoop } = await import("../subjects/soong-loop.mjs");
      const store = await openStore({ directory: home });
      const tools = makeTools(10);
      const calls = makeCalls(100, tools);
      const loop = await createLoop(tools, store);
      // First: the most a process ever had does not fall again.
      const starts = await timeTurns(loop, calls, quick ? 3_000 : 10_000, 60_000);
      const { maxRSS } = process.resourceUsage();
      const { us, cpu } = perTurn(starts, 0, starts.length - 1);
      const small = await heapPerTurn(loop, calls, 10_000);
      const padded = await createLoop(
        tools.map((tool) => ({ ...tool, handler: async (input) => pad(input) })),
        store,
      );
      const large = await heapPerTurn(padded, calls, 10_000, (call) =>
        bytesOfMessages(call, pad(call.input)),
      );
      await store.close();
      return [
        {
          name: RESIDENT,
          value: maxRSS / 1_024,
          unit: "MB",
          note: `${starts.length - 1} turns of ${cpu.toFixed(0)} µs CPU, ${us.toFixed(0)} by the clock`,
        },
        { name: SMALL, value: small.heap_ratio, unit: "×", note: bytesNote(small) },
        { name: LARGE, value: large.heap_ratio, unit: "×", note: bytesNote(large) },
      ];
    }),
};

/** A result of some 2 kB. @param {Input} input */
function pad(input) {
  const { note, ...rest } = answer(input);
  return { note: note.padEnd(2_000, ` and again ${input.limit},`), ...rest };
}

/** @param {{ heap: number, heap_ratio: number }} memory */
const bytesNote = ({ heap, heap_ratio }) =>
  `${heap.toFixed(0)} bytes for ${(heap / heap_ratio).toFixed(0)}`;
