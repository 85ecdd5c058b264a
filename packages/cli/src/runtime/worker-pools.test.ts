import type { AgentDefinition } from "@soong/agent";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { parseConfig } from "../config/index.ts";
import { findPoolProblems } from "./worker-pools.ts";

const BUILDER = { id: "builder", roles: ["worker"] } as unknown as AgentDefinition;
const REVIEWER = { id: "reviewer", roles: ["main"] } as unknown as AgentDefinition;
const CATALOG = {
  definitions: new Map([BUILDER, REVIEWER].map((one) => [one.id, one])),
  startableAs: () => [BUILDER],
};

test.each([
  ["builder", undefined],
  ["bulider", "there is no agent bulider. Did you mean builder?"],
  ["painter", "there is no agent painter. `soong agents new painter --roles worker` writes one."],
  ["reviewer", "the agent reviewer cannot be a worker: add worker to the roles of its definition."],
])("a pool of %s: %s", (agent, problem) => {
  verifies("AGENT-1", "DIST-1");
  const config = parseConfig(`[agents.worker_pools.p]\nagent = "${agent}"\n`, "config.toml");
  expect(findPoolProblems(config, CATALOG).get("p")).toBe(
    problem && `[agents.worker_pools.p] of config.toml: ${problem}`,
  );
});
