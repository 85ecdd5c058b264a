// The process of one driver: plays every case, bare and with the bridge, and prints one line of JSON for each.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { CASES } from "../cases/index.ts";
import type { Case } from "../cases/case.ts";
import { checkInvariants } from "../cases/invariants.ts";
import type { Driver, Observation, Play } from "../scenario.ts";
import { openModelEndpoint } from "./model-endpoint.ts";

export interface CaseOutcome {
  readonly peer: string;
  readonly case: string;
  readonly mode: Play["mode"];
  /** `limit`: it does not hold, and the driver says why. `without`: the case means nothing on this peer. */
  readonly outcome: "ok" | "wrong" | "limit" | "without";
  /** What is wrong, or the reason of the driver. */
  readonly detail?: string;
}

/** A play that takes longer hangs. */
const LONGEST_MS = 30_000;

/** In the order of the cases. `wanted`: ids of cases; empty for all. */
export async function playCases(driver: Driver, wanted: readonly string[]): Promise<void> {
  let unhandled: string | undefined;
  process.on("unhandledRejection", (error) => {
    unhandled = `unhandled rejection: ${describeError(error)}`;
  });
  for (const one of CASES.filter(({ id }) => wanted.length === 0 || wanted.includes(id))) {
    for (const mode of ["bare", "bridge"] as const) {
      unhandled = undefined;
      const without = driver.without?.[one.id];
      const wrong = without === undefined ? await playCase(driver, one, mode) : undefined;
      const problem = wrong ?? unhandled;
      const limit = mode === "bridge" ? driver.limits?.[one.id] : undefined;
      print({
        peer: driver.peer,
        case: one.id,
        mode,
        ...judgeCase({ without, problem, limit }),
      });
    }
  }
  // Some tools of the cases never end, and some peers keep connections.
  process.stdout.write("", () => process.exit(0));
}

function judgeCase({
  without,
  problem,
  limit,
}: Record<"without" | "problem" | "limit", string | undefined>): Pick<
  CaseOutcome,
  "outcome" | "detail"
> {
  if (without !== undefined) return { outcome: "without", detail: without };
  if (problem === undefined) return { outcome: "ok" };
  return limit === undefined
    ? { outcome: "wrong", detail: problem }
    : { outcome: "limit", detail: limit };
}

async function playCase(
  driver: Driver,
  one: Case,
  mode: Play["mode"],
): Promise<string | undefined> {
  const log: string[] = [];
  const abort = new AbortController();
  const write = (entry: string): void => {
    log.push(entry);
    if (entry === scenario.abortAt) abort.abort(new Error("the user pressed stop"));
  };
  const scenario = one.createScenario(write);
  const requests: Observation["requests"][number][] = [];
  const prefix = driver.namePrefix ?? "";
  const endpoint = await openModelEndpoint((seen) => {
    // A peer may ask its model for other things, such as a title.
    if (seen.tools.length === 0) return { text: "Done." };
    requests.push({ ...seen, tools: seen.tools.map((name) => removePrefix(name, prefix)) });
    const { calls, ...answer } = scenario.answers[requests.length - 1] ?? { text: "Done." };
    if (calls === undefined) return answer;
    return { ...answer, calls: calls.map((call) => ({ ...call, name: `${prefix}${call.name}` })) };
  });
  const bound = new Bound(LONGEST_MS);
  try {
    const play = { scenario, mode, url: endpoint.url, log: write, signal: abort.signal };
    const played = await Promise.race([driver.play(play), bound.passed]);
    // What was started at the very end has a chance to write to the log.
    await yieldToEventLoop();
    if (played === undefined) return `did not end within ${LONGEST_MS / 1000} s`;
    const seen = { ...played, log: [...log], requests: [...requests] };
    return one.check(seen) ?? (mode === "bridge" ? checkInvariants(seen) : undefined);
  } catch (error) {
    return `the driver failed: ${describeError(error)}`;
  } finally {
    bound.clear();
    await endpoint.close();
  }
}

function removePrefix(name: string, prefix: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

class Bound {
  readonly passed: Promise<undefined>;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.passed = new Promise((resolve) => {
      this.#timer = setTimeout(() => resolve(undefined), ms);
    });
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function print(outcome: CaseOutcome): void {
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
