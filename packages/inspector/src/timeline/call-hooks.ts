// The hooks that ran for a call, each with what it said and how long it took.

import type { Fact } from "@soong/core";
import type { HookRun } from "../wire/index.ts";
import { countIn, dataIn, textIn, type Data } from "./read-data.ts";

export function callHooks(facts: readonly Fact[], atOf: (fact: Fact) => number): HookRun[] {
  const runs: HookRun[] = [];
  for (const fact of facts) {
    if (!fact.type.startsWith("hook.")) continue;
    const data = dataIn(fact.data);
    const hook = textIn(data, "hook") ?? "";
    const event = textIn(data, "event") ?? "";
    const at = atOf(fact);
    if (fact.type === "hook.started") {
      runs.push({ hook, event, outcome: "running", started_at: at });
    } else if (fact.type === "hook.denied") {
      const told = runs.findLast((run) => run.hook === hook && run.outcome !== "running");
      const detail = textIn(data, "reason");
      const denied = { outcome: "denied" as const, ...(detail === undefined ? {} : { detail }) };
      if (told === undefined) runs.push({ hook, event, started_at: at, ...denied });
      else Object.assign(told, denied);
    } else {
      const begun = runs.find(
        (run) => run.hook === hook && run.event === event && run.outcome === "running",
      );
      const ended = endIn(fact.type, data);
      if (begun === undefined) runs.push({ hook, event, started_at: at, ...ended });
      else Object.assign(begun, ended);
    }
  }
  return runs;
}

function endIn(type: string, data: Data): Pick<HookRun, "outcome" | "duration_ms" | "detail"> {
  const hasFailed = type === "hook.failed";
  const duration_ms = countIn(data, "duration_ms");
  const detail = textIn(data, hasFailed ? "message" : "outcome");
  return {
    outcome: hasFailed ? "failed" : "completed",
    ...(duration_ms === undefined ? {} : { duration_ms }),
    ...(detail === undefined ? {} : { detail }),
  };
}
