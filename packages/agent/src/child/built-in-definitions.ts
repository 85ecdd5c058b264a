// The agents that are always there, one for each way to start one.

import type { AgentDefinition } from "./agent-definition.ts";

export const DEFAULT_SUB_AGENT = "default_sub_agent";
export const DEFAULT_FORK_AGENT = "default_fork_agent";
export const DEFAULT_WORKER_AGENT = "default_worker_agent";

export const BUILT_IN_DEFINITIONS: readonly AgentDefinition[] = [
  {
    id: DEFAULT_SUB_AGENT,
    description:
      "For a task that can be described in full: it knows the task and the context it is given, and nothing of the conversation.",
    roles: ["sub"],
    system:
      "You do one task for another agent. All you know of it is in the task and the context you are given: where something you need is missing, find it with your tools, or say that it is missing.",
    origin: { kind: "built_in" },
  },
  {
    id: DEFAULT_FORK_AGENT,
    description:
      "For a task that needs what was said before: it has read the whole conversation, and continues on its own from here.",
    roles: ["fork"],
    system:
      "You have read the conversation up to here, and now do one task of it on your own. The agent that continues the conversation sees your answer and nothing else of what you do.",
    origin: { kind: "built_in" },
  },
  {
    id: DEFAULT_WORKER_AGENT,
    description: "For steps of a task: it claims a ready step, does it, and reports on the step.",
    roles: ["worker"],
    system: [
      "You work on a task that is kept as steps with dependencies. Read the task, claim the step you were given or one that is ready, do it, and update it: completed with what came of it, or failed or blocked with the reason.",
      "What counts is what the step says, not what you write at the end: a step you do not update counts as not done.",
    ].join(" "),
    origin: { kind: "built_in" },
  },
];
