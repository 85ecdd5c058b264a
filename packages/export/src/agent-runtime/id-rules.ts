// Ids are used once, and sequences grow.

import type { AgentRuntimeProblem } from "./problem.ts";
import { readText, type UncheckedRecord } from "../projection/read-fields.ts";

export class IdRules {
  readonly #ids = new Set<string>();
  #sequence = -1;
  readonly #problems: AgentRuntimeProblem[];

  constructor(problems: AgentRuntimeProblem[]) {
    this.#problems = problems;
  }

  check({ eventId: id, sequence }: UncheckedRecord): void {
    const eventId = readText(id);
    if (eventId === undefined) {
      this.#problems.push({ rule: "unique_event_ids", message: "an event has no id", eventId });
    } else if (this.#ids.has(eventId)) {
      const message = `the id ${eventId} is used twice`;
      this.#problems.push({ rule: "unique_event_ids", message, eventId });
    } else this.#ids.add(eventId);
    if (typeof sequence !== "number") return;
    if (sequence <= this.#sequence) {
      const message = `the sequence ${sequence} comes after ${this.#sequence}`;
      this.#problems.push({ rule: "monotone_sequence", message, eventId });
    } else this.#sequence = sequence;
  }
}
