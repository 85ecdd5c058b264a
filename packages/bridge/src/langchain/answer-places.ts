// Where a call is in its answer. Providers use an id twice, also for calls that are alike in all else: then each of LangGraph's
// tasks has a place of its own, and keeps it when it is executed again.

import { isDeepStrictEqual } from "node:util";
import type { AnswerCall } from "./read-answer.ts";

export interface TaskCall extends AnswerCall {
  /** Distinct for each task, and the same when it is executed again; undefined where one task has all calls of the answer. */
  readonly task: string | undefined;
}

export class AnswerPlaces {
  readonly #claims = new Map<string, Claims>();

  /** `answer` is distinct for each answer of each thread. -1: it is not there. */
  find(answer: string, calls: readonly AnswerCall[], call: TaskCall): number {
    const alike = listPlaces(calls, ({ id }) => id === call.id);
    const same = alike.filter((at) => {
      const one = calls[at];
      return one?.name === call.name && isDeepStrictEqual(one.args, call.args);
    });
    // Another middleware may have changed it.
    const places = same.length > 0 ? same : alike;
    return places.length < 2 ? (places[0] ?? -1) : this.#claim(answer, places, call.task);
  }

  #claim(answer: string, places: readonly number[], task: string | undefined): number {
    const key = JSON.stringify([answer, places]);
    const claims = this.#claims.get(key) ?? { byTask: new Map<string, number>(), arrived: 0 };
    keepLatest(this.#claims, key, claims);
    if (task === undefined) {
      const at = places[claims.arrived % places.length] ?? -1;
      claims.arrived += 1;
      return at;
    }
    const taken = new Set(claims.byTask.values());
    const at = claims.byTask.get(task) ?? places.find((place) => !taken.has(place)) ?? -1;
    claims.byTask.set(task, at);
    return at;
  }
}

interface Claims {
  readonly byTask: Map<string, number>;
  arrived: number;
}

/** An id for the kernel's record: the provider's, or one made of it where an earlier call of the answer has it. */
export function chooseCallId(calls: readonly AnswerCall[], at: number): string | undefined {
  const id = calls[at]?.id;
  const before = calls.slice(0, at).filter((one) => one.id === id).length;
  if (id === undefined || before === 0) return id;
  const taken = new Set(calls.map((one) => one.id));
  for (let nth = before + 1; ; nth += 1) {
    const chosen = `${id}_${nth}`;
    if (!taken.has(chosen)) return chosen;
  }
}

/** A resume comes before the model is requested again: what is older is not needed again. */
const MOST_KEPT = 1000;

export function keepLatest<Value>(kept: Map<string, Value>, key: string, value: Value): void {
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
}

function listPlaces(
  calls: readonly AnswerCall[],
  isWanted: (call: AnswerCall) => boolean,
): number[] {
  return calls.flatMap((call, at) => (isWanted(call) ? [at] : []));
}
