// The journal of a replay keeps nothing: it tells what the kernel decides now, call by call and surface by surface.

import { isTerminalFact, type Fact, type Journal } from "@soong/core";
import type { LiveCall } from "./live-call.ts";

/** `catalogs`: where surfaces go, in the order they came. */
export function watchingJournal(calls: ReadonlyMap<string, LiveCall>, catalogs: Fact[]): Journal {
  return {
    append: ({ facts }) => facts.forEach(watch),
    flush() {},
    read: () => [],
  };

  function watch(fact: Fact): void {
    if (fact.type === "tool.catalog.resolved") catalogs.push(fact);
    const call = fact.tool_call_id === undefined ? undefined : calls.get(fact.tool_call_id);
    if (call === undefined) return;
    const { type, data } = fact;
    if (type === "tool.requested") call.tool_name = fact.tool_name ?? "";
    else if (type === "tool.validated") call.validated = fact;
    else if (type === "tool.queued") call.class = String((data as { class?: unknown }).class);
    else if (type === "permission.evaluated") call.evaluated = fact;
    else if (type === "permission.requested" || type === "permission.failed") call.asked = true;
    else if (type === "tool.started") call.started = true;
    else if (isTerminalFact(type))
      call.result = (data as { result: LiveCall["result"] & {} }).result;
  }
}
