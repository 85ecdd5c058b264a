// Facts as events of Agent Runtime: all mappers together, and the types that have no event.

import type { Fact } from "@soong/core";
import { isRecord } from "@soong/schema";
import type { Projection, Unmapped } from "../projection/projection.ts";
import { CALL_EVENTS } from "./call-events.ts";
import { CHILD_EVENTS } from "./child-events.ts";
import { CONTEXT_EVENTS } from "./context-events.ts";
import type { AgentRuntimeEvent, AgentRuntimeProfile } from "./event.ts";
import { EventWriter } from "./event-writer.ts";
import { MODEL_EVENTS } from "./model-events.ts";
import { OUTPUT_EVENTS } from "./output-events.ts";
import { PERMISSION_EVENTS } from "./permission-events.ts";
import { readRecord, type UncheckedRecord } from "../projection/read-fields.ts";
import { RUN_EVENTS } from "./run-events.ts";
import { TASK_EVENTS } from "./task-events.ts";

export interface AgentRuntimeOptions {
  /** `lime` adds what the Lime profile requires. Default: the public core. */
  readonly profile?: AgentRuntimeProfile;
  /** The installation that the events are of. Default: `soong`. */
  readonly runtimeId?: string;
}

/** Events of Agent Runtime 0.4, one or several for each fact. Facts that are damaged give fewer fields, or no event. */
export function createAgentRuntimeProjection({
  profile = "core",
  runtimeId = "",
}: AgentRuntimeOptions = {}): Projection<AgentRuntimeEvent> {
  const events = new EventWriter(profile, runtimeId === "" ? "soong" : runtimeId);
  return {
    push(fact) {
      const given: unknown = fact;
      if (!isRecord(given)) return [];
      const mapFact = MAPPERS.get(fact.type);
      if (mapFact === undefined) return [];
      events.begin(fact);
      mapFact(readRecord(fact.data), events, fact);
      return events.take();
    },
    // A call or a run that is open has no end to report: the journal gets one when its session is opened again.
    end: () => [],
  };
}

const EVENTS = {
  ...RUN_EVENTS,
  ...MODEL_EVENTS,
  ...CALL_EVENTS,
  ...PERMISSION_EVENTS,
  ...CONTEXT_EVENTS,
  ...CHILD_EVENTS,
  ...TASK_EVENTS,
  ...OUTPUT_EVENTS,
};

/** Why these facts have no event. */
export const AGENT_RUNTIME_UNMAPPED: Unmapped<keyof typeof EVENTS> = {
  "tool.validated": "Its effects are in the decision and in the start of the call.",
  "tool.yielded":
    "The result was delivered to the model; nothing of a call comes after its result.",
  "memory.candidate": "Memory belongs to its own system; the standard has no event for it.",
  "memory.written": "Memory belongs to its own system; the standard has no event for it.",
};

type AnyMapper = (data: UncheckedRecord, events: EventWriter, fact: Fact) => void;

const MAPPERS: ReadonlyMap<string, AnyMapper> = new Map<string, AnyMapper>(Object.entries(EVENTS));
