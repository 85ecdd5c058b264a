// The course of a played scenario: how every call stands after each happening. The invariants look at
// this and at nothing else, so they are not tied to who played it.

import type { CallClass } from "../../../packages/core/src/schedule/schedule.ts";
import type { Happening, Scenario } from "./scenario.ts";

export interface Standing {
  readonly call: number;
  readonly class: CallClass | undefined;
  readonly phase: Phase;
}

type Phase = "pending" | "queued" | "running" | "asking" | "waiting" | "over";

export interface Look {
  readonly happening: Happening;
  /** The calls that have arrived, in call order, as they stand after the happening. */
  readonly calls: readonly Standing[];
  /** The calls that have failed as a write, or were refused as one. */
  readonly stoppers: readonly number[];
  /** The calls that a failed sibling had cancelled before this happening. */
  readonly cancelledBefore: readonly number[];
  /** Nothing more happens at this moment. */
  readonly momentEnds: boolean;
  /** Nothing more happens at all. */
  readonly turnEnds: boolean;
}

export function courseOf(scenario: Scenario, happenings: readonly Happening[]): readonly Look[] {
  const calls: Standing[] = [];
  const stoppers: number[] = [];
  const cancelled: number[] = [];
  return happenings.map((happening, i) => {
    const { call, what } = happening;
    const cancelledBefore = [...cancelled];
    if (what === "cancel") cancelled.push(call);
    const now = after(happening, calls[call] ?? { call, class: undefined, phase: "pending" });
    calls[call] = now;
    const refusedAsWrite = scenario.calls[call]?.verdict === "refused as write";
    if (what === "refuse" ? refusedAsWrite : what === "fail" && now.class === "write") {
      stoppers.push(call);
    }
    return {
      happening,
      calls: [...calls],
      stoppers: [...stoppers],
      cancelledBefore,
      momentEnds: happenings[i + 1]?.at !== happening.at,
      turnEnds: happenings[i + 1] === undefined,
    };
  });
}

/** What may go at this time by the stream alone. */
export function streamLets(
  scenario: Scenario,
  at: number,
  { class: kind, call }: Pick<Standing, "class"> & { readonly call?: number },
): boolean {
  const { streamEnds, halt, early } = scenario;
  const cutAt = halt?.kind === "abort" ? halt.at : Number.POSITIVE_INFINITY;
  if (streamEnds !== "never" && streamEnds <= cutAt && streamEnds <= at) return true;
  const isRepeatable = call === undefined || scenario.calls[call]?.repeatable === true;
  const isReadonly = kind === "parallel" || kind === "exclusive";
  return early === "all" || (early === "readonly" && isReadonly && isRepeatable);
}

function after(happening: Happening, before: Standing): Standing {
  switch (happening.what) {
    case "arrive":
      return before;
    case "become":
      return { ...before, class: happening.class, phase: "queued" };
    case "start":
    case "resume":
      return { ...before, phase: "running" };
    case "ask":
      return { ...before, phase: "asking" };
    case "answer":
      return { ...before, phase: "waiting" };
    case "cancel":
      return { ...before, phase: before.phase === "queued" ? "over" : before.phase };
    case "end":
    case "fail":
    case "refuse":
    case "skip":
    case "drop":
      return { ...before, phase: "over" };
  }
}
