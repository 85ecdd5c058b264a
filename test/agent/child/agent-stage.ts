// A conversation whose agent may start others, all of them played from one script, on a held clock.

import { kernelConfig, type Fact, type FactType, type HeldClock } from "@soong/core";
import {
  createAgents,
  loadAgentCatalog,
  scriptedModel,
  type Agents,
  type AgentsOptions,
  type Script,
  type ScriptTurn,
  type WrittenDefinition,
} from "@soong/agent";
import { openStage, type LoopStage, type StageOptions } from "../loop-stage.ts";

export interface AgentStage extends LoopStage {
  readonly agents: Agents;
  /** Facts of the child that was started as the n-th. */
  ofChild(n: number): Fact[];
}

export interface AgentStageOptions extends Omit<StageOptions, "models"> {
  readonly definitions?: readonly WrittenDefinition[];
  readonly agents?: Partial<AgentsOptions>;
  /** Made when the stage is there: tasks need its clock. */
  readonly more?: (clock: () => HeldClock) => Partial<AgentsOptions>;
}

export async function openAgentStage(
  script: Script,
  options: AgentStageOptions = {},
): Promise<AgentStage> {
  const { definitions = [], agents: given, more, sources = [], config, ...stageOptions } = options;
  const holder: { clock?: HeldClock } = {};
  const clock = (): HeldClock => holder.clock as HeldClock;
  const agents = createAgents({
    catalog: await loadAgentCatalog({ code: definitions }),
    childTimeoutMs: kernelConfig(config).agents.child_timeout_ms,
    ...given,
    ...more?.(clock),
  });
  const stage = await openStage([], {
    sources: [agents.source, ...sources],
    runRegistry: agents.activeRuns,
    board: agents.board,
    config,
    ...stageOptions,
    models(made) {
      holder.clock = made;
      return [scriptedModel(script, { clock: made, id: "script:test" })];
    },
  });
  return {
    ...stage,
    agents,
    ofChild(n) {
      const created = stage.facts("agent.child.created")[n];
      const child_run_id = created?.data.child_run_id;
      return stage.journal.facts.filter(({ run_id }) => run_id === child_run_id);
    },
  };
}

export function start(tool: string, input: object): ScriptTurn {
  return { calls: [{ tool, input: input as never }] };
}

/** The story of facts of these types, with the run each is of as `parent` or `child 1`, `child 2` … */
export function told(facts: readonly Fact[], ...types: FactType[]): string[] {
  const names = new Map<string, string>();
  let children = 0;
  const nameOf = ({ run_id = "", parent_run_id }: Fact): string => {
    const known = names.get(run_id);
    if (known !== undefined) return known;
    if (parent_run_id !== undefined) children += 1;
    const name = parent_run_id === undefined ? "parent" : `child ${children}`;
    names.set(run_id, name);
    return name;
  };
  const all = facts.map((fact) => ({ type: fact.type, who: nameOf(fact) }));
  return all.flatMap(({ type, who }) => (types.includes(type) ? [`${who}: ${type}`] : []));
}
