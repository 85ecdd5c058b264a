// Hooks around a call.

import { defineHook } from "@soong/core";
import type { Case } from "./case.ts";
import { ALLOW_WRITES, callNote, readTool, writeTool } from "./notes.ts";
import {
  answersEach,
  endsCompleted,
  findProblem,
  logIs,
  resultOmits,
  resultSays,
} from "./read-observation.ts";

export const hookCases: readonly Case[] = [
  {
    id: "hook-denies",
    sentence: "A hook denies a call, which does not run; the model learns its reason",
    createScenario: (log) => ({
      tools: [writeTool(log)],
      answers: [{ calls: [callNote("c1", "write", 1)] }],
      policy: ALLOW_WRITES,
      hooks: [
        defineHook({
          id: "frozen",
          event: "PreToolUse",
          run: () => ({ decision: "deny", reason: "the notes are frozen" }),
        }),
      ],
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        logIs(seen),
        answersEach(seen, "c1"),
        resultSays(seen, "c1", /the notes are frozen/),
      ),
  },
  {
    id: "hook-input",
    sentence: "A hook changes the input of a call, and what it changes is validated again",
    createScenario: (log) => ({
      tools: [readTool(log)],
      answers: [{ calls: [callNote("c1", "read", 1), callNote("c2", "read", 3)] }],
      hooks: [
        defineHook({
          id: "replace",
          event: "PreToolUse",
          run: ({ input }) => ({ input: { id: isFirst(input) ? 2 : "three" } }),
        }),
      ],
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        logIs(seen, "read 2"),
        answersEach(seen, "c1", "c2"),
        resultSays(seen, "c1", /note 2/),
        resultOmits(seen, "c2", "note 3"),
      ),
  },
  {
    id: "hook-context",
    sentence: "What a hook adds after a call reaches the model",
    createScenario: (log) => ({
      tools: [readTool(log)],
      answers: [{ calls: [callNote("c1", "read", 1)] }],
      hooks: [
        defineHook({
          id: "draft",
          event: "PostToolUse",
          run: () => ({ context: "This note is a draft." }),
        }),
      ],
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        resultSays(seen, "c1", /note 1/),
        resultSays(seen, "c1", /This note is a draft\./),
      ),
  },
];

/** The hook is asked about what it changed, too. */
function isFirst(input: unknown): boolean {
  const { id } = input as { id: unknown };
  return id === 1 || id === 2;
}
