// Who decides about a call: rules, a callback in the process, the host's own pause and resume.

import type { Scenario } from "../scenario.ts";
import type { Case } from "./case.ts";
import { callNote, deleteTool, readTool, writeTool, type Log } from "./notes.ts";
import {
  answersEach,
  askedAre,
  endsCompleted,
  findProblem,
  logIs,
  resultSays,
} from "./read-observation.ts";

const createWrite =
  (approval: "ask" | "host", approve: readonly string[]) =>
  (log: Log): Scenario => ({
    tools: [readTool(log), writeTool(log)],
    answers: [{ calls: [callNote("c1", "write", 1)] }],
    approval,
    approve,
  });

const approved: Case["check"] = (seen) =>
  findProblem(
    endsCompleted(seen),
    logIs(seen, "write 1"),
    askedAre(seen, "notes.write"),
    answersEach(seen, "c1"),
    resultSays(seen, "c1", /wrote 1/),
  );

const rejected: Case["check"] = (seen) =>
  findProblem(
    endsCompleted(seen),
    logIs(seen),
    askedAre(seen, "notes.write"),
    answersEach(seen, "c1"),
    resultSays(seen, "c1", /\S/),
  );

export const approvalCases: readonly Case[] = [
  {
    id: "rule-denies",
    sentence: "A rule denies one tool and allows another; the model learns why",
    createScenario: (log) => ({
      tools: [writeTool(log), deleteTool(log)],
      answers: [{ calls: [callNote("c1", "write", 1), callNote("c2", "delete", 1)] }],
      policy: {
        rules: [
          { tool: "notes.*", decision: "allow" },
          { tool: "notes.delete", decision: "deny", reason: "notes are kept" },
        ],
      },
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        logIs(seen, "write 1"),
        answersEach(seen, "c1", "c2"),
        resultSays(seen, "c2", /denied|not allowed|notes are kept/i),
      ),
  },
  {
    id: "ask-yes",
    sentence: "A callback approves a write, which then runs once",
    createScenario: createWrite("ask", ["notes.write"]),
    check: approved,
  },
  {
    id: "ask-no",
    sentence: "A callback rejects a write, which does not run; the model gets a result",
    createScenario: createWrite("ask", []),
    check: rejected,
  },
  {
    id: "host-yes",
    sentence: "The host pauses, its user approves, and the write runs once",
    createScenario: createWrite("host", ["notes.write"]),
    check: approved,
  },
  {
    id: "host-no",
    sentence: "The host pauses, its user rejects, and the write does not run",
    createScenario: createWrite("host", []),
    check: rejected,
  },
  {
    id: "host-parallel",
    sentence:
      "Two approvals of one answer: each call gets its own answer, and every call one result",
    createScenario: (log) => ({
      tools: [readTool(log), writeTool(log), deleteTool(log)],
      answers: [
        {
          calls: [
            callNote("c1", "read", 1),
            callNote("c2", "write", 2),
            callNote("c3", "delete", 3),
            callNote("c4", "read", 4),
          ],
        },
      ],
      approval: "host",
      approve: ["notes.write"],
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        askedAre(seen, "notes.write", "notes.delete"),
        [!seen.log.includes("delete 3"), "a write that was rejected ran"],
        [countEntries(seen.log, "write 2") === 1, "the approved write did not run once"],
        [countEntries(seen.log, "read 1") === 1, "a read did not run once"],
        answersEach(seen, "c1", "c2", "c3", "c4"),
      ),
  },
  {
    id: "host-restart",
    sentence: "An approval survives a restart of the process: nothing runs twice, nothing is lost",
    createScenario: (log) => ({
      tools: [readTool(log), writeTool(log)],
      answers: [{ calls: [callNote("c1", "read", 1), callNote("c2", "write", 2)] }],
      approval: "host",
      approve: ["notes.write"],
      restart: true,
    }),
    check: (seen) =>
      findProblem(
        endsCompleted(seen),
        askedAre(seen, "notes.write"),
        [countEntries(seen.log, "write 2") === 1, "the approved write did not run once"],
        [countEntries(seen.log, "read 1") === 1, "the read did not run once"],
        answersEach(seen, "c1", "c2"),
        resultSays(seen, "c2", /wrote 2/),
      ),
  },
];

function countEntries(log: readonly string[], entry: string): number {
  return log.filter((one) => one === entry).length;
}
