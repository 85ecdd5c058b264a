// The hooks that ran for a call, each with its answer and how long it took.

import type { Fact } from "@soong/core";
import type { HookRun } from "../wire/index.ts";

export function callHooks(facts: readonly Fact[], atOf: (fact: Fact) => number): HookRun[] {
  const runs: HookRun[] = [];
  for (const fact of facts) {
    switch (fact.type) {
      case "hook.started": {
        const { hook, event } = fact.data;
        runs.push({ hook, event, outcome: "running", started_at: atOf(fact) });
        break;
      }
      case "hook.completed": {
        const { hook, event, duration_ms, outcome: detail } = fact.data;
        end(fact, hook, event, { outcome: "completed", duration_ms, detail });
        break;
      }
      case "hook.failed": {
        const { hook, event, duration_ms, message: detail } = fact.data;
        end(fact, hook, event, { outcome: "failed", duration_ms, detail });
        break;
      }
      case "hook.denied": {
        const { hook, reason: detail } = fact.data;
        const answered = runs.findLast((run) => run.hook === hook && run.outcome !== "running");
        const denied = { outcome: "denied" as const, detail };
        if (answered !== undefined) Object.assign(answered, denied);
        else runs.push({ hook, event: "", started_at: atOf(fact), ...denied });
        break;
      }
      default:
        break;
    }
  }
  return runs;

  function end(
    fact: Fact,
    hook: string,
    event: string,
    ended: Pick<HookRun, "outcome" | "duration_ms" | "detail">,
  ): void {
    const begun = runs.find(
      (run) => run.hook === hook && run.event === event && run.outcome === "running",
    );
    if (begun !== undefined) Object.assign(begun, ended);
    else runs.push({ hook, event, started_at: atOf(fact), ...ended });
  }
}
