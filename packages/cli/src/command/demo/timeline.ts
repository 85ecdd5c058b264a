// The work on a task as lanes of text, one for each worker, from the facts of its steps.

import type { Fact } from "@soong/core";

interface Attempt {
  readonly worker: string;
  readonly step_id: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly isDone: boolean;
}

/** From claim to end, in the order they ended. */
export function listAttempts(facts: readonly Fact[]): Attempt[] {
  const claimed = new Map<string, Fact<"task.step.claimed">>();
  return facts.flatMap((fact) => {
    if (fact.type === "task.step.claimed") claimed.set(fact.data.step_id, fact);
    if (fact.type !== "task.step.completed" && fact.type !== "task.step.failed") return [];
    const { step_id } = fact.data;
    const begun = claimed.get(step_id);
    if (begun === undefined) return [];
    claimed.delete(step_id);
    return [
      {
        worker: begun.data.claim.worker ?? "",
        step_id,
        from: Date.parse(begun.time),
        to: Date.parse(fact.time),
        isDone: fact.type === "task.step.completed",
      },
    ];
  });
}

export function renderTimeline(attempts: readonly Attempt[], width: number): string[] {
  const workers = [...new Set(attempts.map(({ worker }) => worker))].toSorted();
  const label = Math.max(...workers.map((worker) => worker.length)) + 1;
  const first = Math.min(...attempts.map(({ from }) => from));
  const last = Math.max(...attempts.map(({ to }) => to));
  const scale = (width - label - 1) / Math.max(1, last - first);
  const columnOf = (time: number): number => Math.round((time - first) * scale);
  return workers.map((worker) => {
    let lane = "";
    for (const { step_id, from, to, isDone } of attempts.filter((one) => one.worker === worker)) {
      const begin = Math.max(columnOf(from), lane.length);
      const room = Math.max(2, columnOf(to) - begin);
      const name = step_id.slice(0, room - 1).padEnd(room - 1, "─");
      lane = `${lane.padEnd(begin)}${name}${isDone ? "✓" : "✗"}`;
    }
    return `${worker.padEnd(label)}${lane}`.slice(0, width);
  });
}
