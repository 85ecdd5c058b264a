// The run of the kernel that a scenario describes: what every driver puts under its peer in the mode `bridge`.

import { createHostApprovals, type BridgeRun, type HostApprovals } from "@soong/bridge";
import {
  createKernel,
  createMemoryArtifacts,
  createMemoryJournal,
  defineTool,
  type AnyTool,
  type AskPermission,
  type Fact,
} from "@soong/core";
import type { Scenario, ScenarioTool } from "../scenario.ts";

export interface ScenarioRun {
  readonly run: BridgeRun;
  /** Given if the scenario has the host's approvals. */
  readonly approvals: HostApprovals | undefined;
  /** Canonical names of what the callback was asked about; the driver adds those of the host's approvals. */
  readonly asked: string[];
  /** Everything on record so far. */
  readonly facts: readonly Fact[];
}

/** After a restart the driver opens another one, for the same scenario. */
export async function openScenarioRun(scenario: Scenario): Promise<ScenarioRun> {
  const { tools, policy, config, hooks, secrets, approval = "none" } = scenario;
  const asked: string[] = [];
  const approvals = approval === "host" ? createHostApprovals() : undefined;
  const ask = approvals?.ask ?? (approval === "ask" ? answerAs(scenario, asked) : undefined);
  const journal = createMemoryJournal();
  const kernel = createKernel({
    tools: tools.map(defineScenarioTool),
    ...(config && { config }),
  });
  const run = await kernel.startRun({
    journal,
    artifacts: createMemoryArtifacts(),
    ...(policy && { policy }),
    ...(hooks && { hooks }),
    ...(secrets && { secrets }),
    ...(ask && { ask }),
  });
  return { run, approvals, asked, facts: journal.facts };
}

export function defineScenarioTool(tool: ScenarioTool): AnyTool {
  const { name, description, input_schema, effect, defer, timeoutMs, run } = tool;
  return defineTool({
    name,
    description,
    input_schema,
    ...(effect === "read" && { permission: "readonly", concurrency_safe: true }),
    ...(defer !== undefined && { defer }),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    handler: (input, { signal, progress }) =>
      run(input, {
        signal,
        progress: (message) => progress({ message }),
      }),
  });
}

function answerAs({ approve = [] }: Scenario, asked: string[]): AskPermission {
  return ({ tool_name }) => {
    asked.push(tool_name);
    return approve.includes(tool_name)
      ? { decision: "allow_once" }
      : { decision: "deny", reason: "the user said no" };
  };
}
