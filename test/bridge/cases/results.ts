// What the model is sent of a result.

import { toolResult } from "@soong/core";
import type { Case } from "./case.ts";
import { callNote, noteTool, readTool, type Log } from "./notes.ts";
import type { ScenarioTool } from "../scenario.ts";
import {
  answersEach,
  endsCompleted,
  findProblem,
  readResult,
  resultOmits,
  resultSays,
} from "./read-observation.ts";

const HUGE = Array.from({ length: 30_000 }, (_, at) => `line ${at}`).join("\n");
const SECRET = "5up3r-s3cr3t-v4lue";
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const resultCases: readonly Case[] = [
  {
    id: "huge-result",
    sentence: "A huge result is bounded for the model, which learns where the whole is",
    createScenario: (log) => ({
      tools: [readTool(log, async () => HUGE)],
      answers: [{ calls: [callNote("c1", "read", 1)] }],
    }),
    check(seen) {
      const { length } = readResult(seen, "c1");
      return findProblem(
        endsCompleted(seen),
        answersEach(seen, "c1"),
        [length < 100_000, `the model was sent ${length} characters`],
        resultSays(seen, "c1", /artifact/),
      );
    },
  },
  {
    id: "secrets",
    sentence: "A secret in a result does not reach the model",
    createScenario: (log) => ({
      tools: [readTool(log, async (id) => `note ${id}: the key is ${SECRET}`)],
      answers: [{ calls: [callNote("c1", "read", 1)] }],
      secrets: [{ name: "NOTES_KEY", value: SECRET }],
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        resultSays(seen, "c1", /the key is/),
        resultOmits(seen, "c1", SECRET),
      ),
  },
  {
    id: "handler-values",
    sentence:
      "A tool that throws, returns nothing or returns an image has one result that the model can use",
    createScenario: (log) => ({
      tools: [throwTool(log), nothingTool(log), pictureTool(log)],
      answers: [
        {
          calls: [
            callNote("c1", "throw", 1),
            callNote("c2", "nothing", 2),
            callNote("c3", "picture", 3),
          ],
        },
      ],
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        answersEach(seen, "c1", "c2", "c3"),
        resultSays(seen, "c1", /the disk is full/),
        resultOmits(seen, "c3", PICTURE),
      ),
  },
  {
    id: "progress",
    sentence: "Progress of a tool is seen while it runs",
    createScenario: (log) => ({
      tools: [
        readTool(log, async (id, _, { progress }) => {
          progress("half of it");
          return `note ${id}`;
        }),
      ],
      answers: [{ calls: [callNote("c1", "read", 1)] }],
      stream: true,
    }),
    check: (seen) =>
      findProblem(endsCompleted(seen), resultSays(seen, "c1", /note 1/), [
        seen.progress.some((message) => message.includes("half of it")),
        "no progress was seen",
      ]),
  },
];

function throwTool(log: Log): ScenarioTool {
  const fail = () => Promise.reject(new Error("the disk is full"));
  return noteTool(log, "throw", fail, { effect: "read" });
}

function nothingTool(log: Log): ScenarioTool {
  return noteTool(log, "nothing", async () => undefined, { effect: "read" });
}

function pictureTool(log: Log): ScenarioTool {
  const picture = { type: "image" as const, media_type: "image/png", data: PICTURE };
  const run = async () => toolResult({ content: [picture] });
  return noteTool(log, "picture", run, { effect: "read" });
}
