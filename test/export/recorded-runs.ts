// Recorded runs with every type of fact, made with real parts: what exports are tested on (EXPORT-1).

import { KERNEL_FACT_TEXTS, type Fact, type FactTexts, type FactType } from "@soong/core";
import { AGENT_FACT_TEXTS } from "@soong/agent";
import { MCP_FACT_TEXTS } from "@soong/mcp";
import { TASK_FACT_TEXTS } from "@soong/tasks";
import { AGENT_RUNS } from "./runs/agent-runs.ts";
import { HOME_RUNS } from "./runs/home-runs.ts";
import { KERNEL_RUNS } from "./runs/kernel-runs.ts";
import { LOOP_RUNS } from "./runs/loop-runs.ts";

/** By name: plays a session and resolves to its facts. */
export type Recordings = Readonly<Record<string, () => Promise<readonly Fact[]>>>;

export interface RecordedRun {
  readonly name: string;
  /** As they are on disk: what JSON has no word for is gone. */
  readonly facts: readonly Fact[];
  /** The same, as who watched the session had them. */
  readonly live: readonly Fact[];
}

const RECORDINGS: Recordings = { ...KERNEL_RUNS, ...LOOP_RUNS, ...AGENT_RUNS, ...HOME_RUNS };

export async function recordRuns(): Promise<RecordedRun[]> {
  const recorded: RecordedRun[] = [];
  for (const [name, play] of Object.entries(RECORDINGS)) {
    const live = await play();
    recorded.push({ name, live, facts: JSON.parse(JSON.stringify(live)) as Fact[] });
  }
  return recorded;
}

/** A type that is missing here does not compile. */
const TEXTS: FactTexts = {
  ...KERNEL_FACT_TEXTS,
  ...AGENT_FACT_TEXTS,
  ...MCP_FACT_TEXTS,
  ...TASK_FACT_TEXTS,
};

export const FACT_TYPES = Object.keys(TEXTS) as readonly FactType[];
