// When calls run, beside which others, and how they end.

import { setTimeout as wait } from "node:timers/promises";
import type { Case } from "./case.ts";
import { ALLOW_WRITES, callNote, deleteTool, noteTool, readTool, writeTool } from "./notes.ts";
import {
  answersEach,
  endsCompleted,
  endsOnRecord,
  findProblem,
  logIs,
  readResults,
  resultOmits,
  resultSays,
} from "./read-observation.ts";

export const orderCases: readonly Case[] = [
  {
    id: "order",
    sentence: "Reads run in parallel, a write runs alone after them, a later read after the write",
    createScenario(log) {
      const both = new Meeting(2);
      return {
        tools: [
          readTool(log, async (id) => {
            if (id <= 2) await both.arrive();
            log(`read ${id} ended`);
            return `note ${id}`;
          }),
          writeTool(log, async (id) => {
            await wait(30);
            log(`write ${id} ended`);
            return `wrote ${id}`;
          }),
        ],
        answers: [
          {
            calls: [
              callNote("c1", "read", 1),
              callNote("c2", "read", 2),
              callNote("c3", "write", 3),
              callNote("c4", "read", 4),
            ],
          },
        ],
        policy: ALLOW_WRITES,
        stream: true,
      };
    },
    check(seen) {
      const at = (entry: string): number => seen.log.indexOf(entry);
      const reads = [at("read 1 ended"), at("read 2 ended")];
      return findProblem(
        endsCompleted(seen),
        [seen.log.length === 8, `not everything ran: ${seen.log.join(", ")}`],
        [at("read 2") < Math.min(...reads), "the reads did not run in parallel"],
        [at("write 3") > Math.max(...reads), "the write ran beside a read"],
        [at("read 4") > at("write 3 ended"), "the later read did not wait for the write"],
        answersEach(seen, "c1", "c2", "c3", "c4"),
      );
    },
  },
  {
    id: "failed-write",
    sentence: "After a write that fails, later calls of the answer do not run; each has a result",
    createScenario: (log) => ({
      tools: [
        readTool(log),
        writeTool(log, () => Promise.reject(new Error("the disk is full"))),
        deleteTool(log),
      ],
      answers: [
        {
          calls: [
            callNote("c1", "write", 1),
            callNote("c2", "delete", 2),
            callNote("c3", "read", 3),
          ],
        },
      ],
      policy: ALLOW_WRITES,
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        logIs(seen, "write 1"),
        answersEach(seen, "c1", "c2", "c3"),
        resultSays(seen, "c1", /the disk is full/),
      ),
  },
  {
    id: "timeout",
    sentence:
      "A tool that ignores its signal has a result at its time bound; its late value does not count",
    createScenario: (log) => ({
      tools: [
        noteTool(
          log,
          "export",
          async () => {
            await wait(3000);
            log("export ended");
            return "late value";
          },
          { effect: "read", timeoutMs: 100 },
        ),
      ],
      answers: [{ calls: [callNote("c1", "export", 1)] }],
      config: { tools: { cancel_grace_ms: 20 } },
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        answersEach(seen, "c1"),
        resultOmits(seen, "c1", "late value"),
        resultSays(seen, "c1", /time|100 ms/i),
        logIs(seen, "export 1"),
      ),
  },
  {
    id: "abort",
    sentence: "An abort ends the loop, stops the tools that run, and starts no more",
    createScenario: (log) => ({
      tools: [
        readTool(log, async (id, _, { signal }) => {
          log("started");
          await untilAborted(signal, 1000);
          log(signal.aborted ? `read ${id} stopped` : `read ${id} left running`);
          return "stopped";
        }),
        writeTool(log),
      ],
      answers: [{ calls: [callNote("c1", "read", 1), callNote("c2", "write", 2)] }],
      policy: ALLOW_WRITES,
      abortAt: "started",
    }),
    check: (seen) =>
      findProblem(
        [seen.end === "aborted", `it ended as ${seen.end}: ${seen.error ?? ""}`],
        logIs(seen, "read 1", "started", "read 1 stopped"),
        [seen.requests.length === 1, "the model was asked again"],
        endsOnRecord(seen),
      ),
  },
  {
    id: "duplicate-ids",
    sentence: "Two calls with the same id both run, and both results reach the model",
    createScenario: (log) => ({
      tools: [readTool(log)],
      answers: [{ calls: [callNote("c1", "read", 1), callNote("c1", "read", 2)] }],
    }),
    check(seen) {
      const texts = (seen.requests[1]?.results ?? []).map(({ text }) => text);
      const has = (id: number): boolean => texts.some((text) => text.includes(`note ${id}`));
      return findProblem(
        endsCompleted(seen),
        [seen.log.length === 2, `the tools did ${seen.log.join(", ")}`],
        [has(1) && has(2), `the model has ${texts.join(", ")}`],
        endsOnRecord(seen),
      );
    },
  },
  {
    id: "broken-stream",
    sentence: "A streamed answer that breaks off has written nothing",
    createScenario: (log) => ({
      tools: [readTool(log), writeTool(log)],
      answers: [
        { calls: [callNote("c1", "read", 1), callNote("c2", "write", 2)], breaksOff: true },
        { text: "Done." },
      ],
      policy: ALLOW_WRITES,
      stream: true,
    }),
    check: (seen) =>
      findProblem(
        [!seen.log.includes("write 2"), "the write ran"],
        [
          readResults(seen.requests, "c2").every((text) => !text.includes("wrote")),
          "the model has a result of the write",
        ],
        endsOnRecord(seen),
      ),
  },
];

/** Lets a number of calls wait for each other, and no longer than a second. */
class Meeting {
  #missing: number;
  readonly #complete: Promise<void>;
  #open: () => void = () => {};

  constructor(count: number) {
    this.#missing = count;
    this.#complete = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  async arrive(): Promise<void> {
    this.#missing -= 1;
    if (this.#missing === 0) this.#open();
    await Promise.race([this.#complete, wait(1000)]);
  }
}

async function untilAborted(signal: AbortSignal, longestMs: number): Promise<void> {
  await wait(longestMs, undefined, { signal }).catch(() => {});
}
