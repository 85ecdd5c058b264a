// Every id that an event names is introduced by an event of the log, before or after it.

import { UNAVAILABLE } from "./event.ts";
import type { AgentRuntimeProblem } from "./problem.ts";
import { readList, readRecord, readText, type UncheckedRecord } from "../projection/read-fields.ts";

/** Where an id comes from. */
const INTRODUCED_BY = {
  threadId: ["thread.started"],
  turnId: ["turn.submitted", "turn.started"],
  toolCallId: ["tool.started"],
  actionId: ["action.required"],
  subagentId: ["subagent.spawned"],
  artifactId: ["artifact.changed"],
  modelRequestId: ["model.requested"],
  rootTaskId: ["task.created"],
} as const;

type IdField = keyof typeof INTRODUCED_BY;

const ID_FIELDS = Object.keys(INTRODUCED_BY) as readonly IdField[];

export class RefRules {
  readonly #introduced = new Set<string>();
  /** Named and not introduced yet, with the event that named it first. */
  readonly #wanted = new Map<string, { what: string; eventId: string | undefined }>();
  readonly #problems: AgentRuntimeProblem[];

  constructor(problems: AgentRuntimeProblem[]) {
    this.#problems = problems;
  }

  check(event: UncheckedRecord): void {
    const eventId = readText(event["eventId"]);
    const type = readText(event["type"]) ?? "";
    if (eventId !== undefined) this.#introduce(`event ${eventId}`);
    for (const field of ID_FIELDS) {
      const id = readText(event[field]) ?? (field === "rootTaskId" ? taskIn(event) : undefined);
      if (id === undefined || id === UNAVAILABLE) continue;
      // The Lime profile wants an id of a call there, and there is no call.
      if (field === "toolCallId" && type === "tool.catalog.resolved") continue;
      const what = `${field} ${id}`;
      if ((INTRODUCED_BY[field] as readonly string[]).includes(type)) this.#introduce(what);
      else this.#want(what, eventId);
    }
    const refs = readRecord(event["refs"]);
    for (const id of readList(refs["artifactIds"])) {
      const artifactId = readText(id);
      if (artifactId !== undefined) this.#want(`artifactId ${artifactId}`, eventId);
    }
    const decision = readText(refs["decisionEventId"]);
    if (decision !== undefined) this.#want(`event ${decision}`, eventId);
  }

  end(): void {
    for (const { what, eventId } of this.#wanted.values()) {
      const message = `no event of the log introduces ${what}`;
      this.#problems.push({ rule: "refs_resolve", message, eventId });
    }
  }

  #introduce(what: string): void {
    this.#introduced.add(what);
    this.#wanted.delete(what);
  }

  #want(what: string, eventId: string | undefined): void {
    if (!this.#introduced.has(what) && !this.#wanted.has(what)) {
      this.#wanted.set(what, { what, eventId });
    }
  }
}

/** A task without a parent is its own root. */
function taskIn({ taskId, parentTaskId }: UncheckedRecord): string | undefined {
  return parentTaskId === undefined ? readText(taskId) : undefined;
}
