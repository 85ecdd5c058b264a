// Which tools the model is offered, and what is on record.

import type { Case } from "./case.ts";
import { ALLOW_WRITES, callNote, noteTool, readTool, writeTool } from "./notes.ts";
import {
  answersEach,
  endsCompleted,
  endsOnRecord,
  findProblem,
  logIs,
} from "./read-observation.ts";

const WIRE_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

export const recordCases: readonly Case[] = [
  {
    id: "deferred",
    sentence: "A deferred tool is found by a search, and is offered from the next request on",
    createScenario: (log) => ({
      tools: [
        readTool(log),
        noteTool(log, "archive", async (id) => `archived ${id}`, { effect: "read", defer: true }),
      ],
      answers: [
        {
          calls: [
            { id: "c1", name: "internal__search_tools", arguments: '{"query":"archive a note"}' },
          ],
        },
        { calls: [callNote("c2", "archive", 1)] },
      ],
    }),
    check(seen) {
      const isOffered = (at: number): boolean =>
        seen.requests[at]?.tools.includes("notes__archive") === true;
      return findProblem(
        endsCompleted(seen),
        [!isOffered(0), "it is offered from the start"],
        [isOffered(1), "it is not offered after the search"],
        logIs(seen, "archive 1"),
      );
    },
  },
  {
    id: "record",
    sentence: "Every call is on record, by its canonical name, from its request to its one end",
    createScenario: (log) => ({
      tools: [readTool(log), writeTool(log)],
      answers: [
        {
          calls: [
            callNote("c1", "read", 1),
            callNote("c2", "read", "two"),
            callNote("c3", "write", 3),
          ],
        },
      ],
      policy: ALLOW_WRITES,
    }),
    check(seen) {
      const types = (id: string): string =>
        seen.facts
          .filter((fact) => fact.tool_call_id === id && fact.type.startsWith("tool."))
          .map(({ type }) => type.slice("tool.".length))
          .join(" ");
      const names = new Set(seen.facts.flatMap(({ tool_name }) => tool_name ?? []));
      return findProblem(
        endsCompleted(seen),
        answersEach(seen, "c1", "c2", "c3"),
        [
          seen.requests.every(({ tools }) => tools.every((name) => WIRE_NAME.test(name))),
          "a name on the wire is none that every provider takes",
        ],
        [seen.facts.length > 0, "nothing is on record"],
        [[...names].every((name) => name.includes(".")), `the record has ${[...names].join()}`],
        [
          /^requested validated .*started .*completed/.test(types("c1")),
          `c1 on record: ${types("c1")}`,
        ],
        [!types("c2").includes("started"), `c2 on record: ${types("c2")}`],
        [types("c3").includes("completed"), `c3 on record: ${types("c3")}`],
        endsOnRecord(seen),
      );
    },
  },
];
