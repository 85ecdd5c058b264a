// One case of the bridges: a scenario that any loop can play, and whether what was seen is right.

import type { Observation, Scenario } from "../scenario.ts";

export interface Case {
  readonly id: string;
  /** What holds, in one sentence; a line of the table in docs/bridges.md. */
  readonly sentence: string;
  /** New for each play. Tools write what they do to the log. */
  createScenario(log: (entry: string) => void): Scenario;
  /** What is wrong, or nothing. The same for a bare peer. */
  check(observation: Observation): string | undefined;
}
