// What checks of cases read of an observation.

import { isTerminalFact } from "@soong/core";
import type { Observation, SeenRequest } from "../scenario.ts";

export type Check = readonly [isRight: boolean, problem: string];

/** The first thing that is not right. */
export function findProblem(...checks: readonly Check[]): string | undefined {
  return checks.find(([isRight]) => !isRight)?.[1];
}

export function endsCompleted({ end, error }: Observation): Check {
  return [end === "completed", `it ended as ${end}${error === undefined ? "" : `: ${error}`}`];
}

export function logIs({ log }: Observation, ...expected: readonly string[]): Check {
  const isSame = log.length === expected.length && expected.every((one, at) => log[at] === one);
  return [isSame, `the tools did ${describeList(log)}, not ${describeList(expected)}`];
}

export function askedAre({ asked }: Observation, ...expected: readonly string[]): Check {
  const isSame = asked.toSorted().join() === expected.toSorted().join();
  return [isSame, `the user was asked about ${describeList(asked)}, not ${describeList(expected)}`];
}

/** In the request that follows an answer, every call has exactly one result. */
export function answersEach({ requests }: Observation, ...ids: readonly string[]): Check {
  const next = requests[1];
  if (next === undefined) return [false, "the model was not asked again"];
  const counts = ids.map((id) => next.results.filter((result) => result.id === id).length);
  const wrong = ids.filter((_, at) => counts[at] !== 1);
  return [
    wrong.length === 0,
    `${wrong.map((id) => `${id} has ${counts[ids.indexOf(id)]} results`).join(", ")} in the next request`,
  ];
}

/** The text that the model has of a call; empty if it has none. */
export function readResult({ requests }: Observation, id: string): string {
  return readResults(requests, id).at(-1) ?? "";
}

/** All texts for that id, in the last request that has any. */
export function readResults(requests: readonly SeenRequest[], id: string): string[] {
  const has = (request: SeenRequest): boolean => request.results.some((one) => one.id === id);
  const last = requests.findLast(has);
  return (last?.results ?? []).filter((one) => one.id === id).map(({ text }) => text);
}

export function resultSays(observation: Observation, id: string, words: RegExp): Check {
  const text = readResult(observation, id);
  return [words.test(text), `the result of ${id} does not say ${String(words)}: ${clip(text)}`];
}

export function resultOmits(observation: Observation, id: string, words: string): Check {
  const text = readResult(observation, id);
  return [!text.includes(words), `the result of ${id} has ${JSON.stringify(words)}`];
}

/** Every call on record has exactly one end. */
export function endsOnRecord({ facts }: Observation): Check {
  const requested = facts.filter(({ type }) => type === "tool.requested");
  const wrong = requested.filter(({ tool_call_id }) => {
    const ends = facts.filter((fact) => isTerminalFact(fact) && fact.tool_call_id === tool_call_id);
    return ends.length !== 1;
  });
  const ids = wrong.map(({ tool_call_id }) => tool_call_id);
  return [wrong.length === 0, `not exactly one end on record: ${ids.join(", ")}`];
}

function describeList(list: readonly string[]): string {
  return list.length === 0 ? "nothing" : list.join(", ");
}

function clip(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
