// Calls that a model gets wrong: the tool does not run, and the model learns what is wrong.

import type { Case } from "./case.ts";
import { callNote, readTool } from "./notes.ts";
import { answersEach, endsCompleted, findProblem, logIs, resultSays } from "./read-observation.ts";

export const argumentCases: readonly Case[] = [
  {
    id: "arguments-not-json",
    sentence: "Arguments that are no JSON do not run the tool, and the model learns that",
    createScenario: (log) => ({
      tools: [readTool(log)],
      answers: [{ calls: [{ id: "c1", name: "notes__read", arguments: '{"id": 1,' }] }],
      // Some formats carry arguments as text only there.
      stream: true,
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        logIs(seen),
        answersEach(seen, "c1"),
        resultSays(seen, "c1", /json/i),
      ),
  },
  {
    id: "arguments-mismatch",
    sentence: "Wrong types, missing and extra fields do not run the tool, and are named",
    createScenario: (log) => ({
      tools: [readTool(log)],
      answers: [
        {
          calls: [
            callNote("c1", "read", "seven"),
            { id: "c2", name: "notes__read", arguments: "{}" },
            { id: "c3", name: "notes__read", arguments: '{"id":3,"colour":"red"}' },
          ],
        },
      ],
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        logIs(seen),
        answersEach(seen, "c1", "c2", "c3"),
        resultSays(seen, "c1", /\bid\b/),
        resultSays(seen, "c2", /\bid\b/),
        resultSays(seen, "c3", /colour/),
      ),
  },
  {
    id: "unknown-tool",
    sentence: "A call of an unknown tool has a result that names it; the call beside it runs",
    createScenario: (log) => ({
      tools: [readTool(log)],
      answers: [{ calls: [callNote("c1", "raed", 1), callNote("c2", "read", 2)] }],
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        logIs(seen, "read 2"),
        answersEach(seen, "c1", "c2"),
        resultSays(seen, "c1", /raed/),
      ),
  },
];
