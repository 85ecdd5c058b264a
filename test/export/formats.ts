// Every format of exports: how it is made, what may be wrong with it, and which facts it leaves out.

import type { Fact, FactType } from "@soong/core";
import {
  AGENT_RUNTIME_UNMAPPED,
  AGENT_TOOL_UNMAPPED,
  createAgentRuntimeProjection,
  createAgentRuntimeSnapshot,
  createAgentToolProjection,
  createCloudEventsProjection,
  createOtlpProjection,
  FACTS_WITHOUT_SPAN,
  findAgentRuntimeProblems,
  findAgentToolProblems,
  findOtlpProblems,
  type AgentRuntimeProfile,
  type Projection,
} from "@soong/export";
import { findCloudEventProblems } from "./cloud-events-rules.ts";
import {
  validateAgentRuntimeEvent,
  validateAgentRuntimeSnapshot,
  validateAgentTool,
  type RuntimeProfile,
} from "./schemas.ts";

export interface Format {
  readonly name: string;
  readonly create: () => Projection<object>;
  /** Schema first, then the rules of a log. */
  readonly findProblems: (records: readonly object[]) => readonly unknown[];
  /** With the reason, by type of fact. */
  readonly unmapped: Readonly<Partial<Record<string, string>>>;
  /** Mapped types whose facts say what another fact of the same run says, too: without them the records are the same. */
  readonly repeated?: readonly FactType[];
}

export const FORMATS: readonly Format[] = [
  {
    name: "agent-tool",
    create: createAgentToolProjection,
    findProblems: (records) => [
      ...records.flatMap(validateAgentTool),
      ...findAgentToolProblems(records),
    ],
    unmapped: AGENT_TOOL_UNMAPPED,
    repeated: ["run.completed", "run.failed", "run.aborted", "output.redacted", "output.truncated"],
  },
  ofAgentRuntime("core", "public"),
  ofAgentRuntime("lime", "lime"),
  snapshotOf("core", "public"),
  snapshotOf("lime", "lime"),
  {
    name: "cloudevents",
    create: createCloudEventsProjection,
    findProblems: findCloudEventProblems,
    unmapped: {},
  },
  {
    name: "otlp",
    create: () => createOtlpProjection(),
    findProblems: findOtlpProblems,
    unmapped: FACTS_WITHOUT_SPAN,
    // The text of an answer is content.
    repeated: ["model.delta"],
  },
  {
    name: "otlp with content",
    create: () => createOtlpProjection({ content: true, spansPerRequest: 1 }),
    findProblems: findOtlpProblems,
    unmapped: FACTS_WITHOUT_SPAN,
  },
];

/** All records of these facts, in order. */
export function exportFacts<Out>(projection: Projection<Out>, facts: Iterable<Fact>): Out[] {
  const records: Out[] = [];
  for (const fact of facts) records.push(...projection.push(fact));
  records.push(...projection.end());
  return records;
}

function ofAgentRuntime(profile: AgentRuntimeProfile, schema: RuntimeProfile): Format {
  return {
    name: `agent-runtime, ${profile}`,
    create: () => createAgentRuntimeProjection({ profile }),
    findProblems: (events) => [
      ...events.flatMap((event) => validateAgentRuntimeEvent(event, { profile: schema })),
      ...findAgentRuntimeProblems(events),
    ],
    unmapped: AGENT_RUNTIME_UNMAPPED,
  };
}

function snapshotOf(profile: AgentRuntimeProfile, schema: RuntimeProfile): Format {
  return {
    name: `agent-runtime-snapshot, ${profile}`,
    create() {
      const model = createAgentRuntimeSnapshot({ profile });
      return {
        push(fact) {
          model.push(fact);
          return [];
        },
        end: () => [model.snapshot()],
      };
    },
    findProblems: (snapshots) =>
      snapshots.flatMap((one) => validateAgentRuntimeSnapshot(one, { profile: schema })),
    unmapped: AGENT_RUNTIME_UNMAPPED,
  };
}
