// The sections `agents` and `task`: how far agents may go with those they start, and the workers that steps of a task
// are given to.

import { kernelConfig } from "@soong/core";
import type { Table } from "./definition.ts";
import { MODEL_REFERENCE } from "./model-sections.ts";
import type { SoongConfig, WorkerPoolSettings } from "./soong-config.ts";
import { milliseconds, plainText, text, texts, TOOL_PATTERN, wholeNumber } from "./value-kinds.ts";

const { agents } = kernelConfig();

const workerPool: Table<WorkerPoolSettings> = {
  says: "Workers that are alike.",
  keys: {
    agent: {
      says: "The agent definition its workers have. Default: `default_worker_agent`.",
      kind: text(plainText("id of an agent definition")),
      default: undefined,
    },
    size: {
      says: "How many of them there are, which is how many steps they work on at the same time.",
      kind: wholeNumber(1, 64),
      default: 1,
    },
    model: {
      says: "The model they ask. Default: that of the definition, or of the run that gives them work.",
      kind: text(MODEL_REFERENCE),
      default: undefined,
    },
    allowed_tools: {
      says: "The tools they have beside those for their task. Default: those of the definition, or the file tools that only read.",
      kind: texts(TOOL_PATTERN),
      default: undefined,
    },
  },
};

export const agentsSection: Table<SoongConfig["agents"]> = {
  says: "Limits on agents and the agents they start.",
  keys: {
    max_turns: {
      says: "How many model requests one run may make.",
      kind: wholeNumber(1, 100_000),
      default: 128,
    },
    child_timeout_ms: {
      says: "How long a child agent may take.",
      kind: milliseconds(),
      default: agents.child_timeout_ms,
    },
    max_children_per_run: {
      says: "How many children one run may start.",
      kind: wholeNumber(0, 1000),
      default: agents.max_children_per_run,
    },
    max_concurrent_children_per_session: {
      says: "How many children of a session may work at the same time.",
      kind: wholeNumber(0, 1000),
      default: agents.max_concurrent_children_per_session,
    },
    worker_pools: {
      says: "One table for each pool of workers that steps of a task may be given to. Without any there is one, `workers`, of four.",
      nameProblem: (name) =>
        /^[A-Za-z0-9_-]{1,64}$/.test(name)
          ? undefined
          : 'is not a name for a pool: 1 to 64 letters, digits, "_" and "-"',
      each: workerPool,
      example: [
        "[agents.worker_pools.builders]",
        'agent = "builder"               # agents/builder.md of the home',
        "size = 2",
        'allowed_tools = ["code.*"]',
      ],
    },
  },
};

export const taskSection: Table<SoongConfig["task"]> = {
  says: "Tasks: goals and the steps that reach them, which workers claim.",
  keys: {
    lease_ms: {
      says: "How long the claim on a step holds without a sign of life of its worker; then it is anybody's again.",
      kind: milliseconds(1000),
      default: 60_000,
    },
    max_attempts: {
      says: "How often a step that says nothing of it is tried before it has failed.",
      kind: wholeNumber(1, 100),
      default: 3,
    },
  },
};
