// The journal of a replay keeps nothing: it collects what the kernel decides now, call by call and surface by surface.

import { isTerminalFact, type Fact, type Journal } from "@soong/core";
import { readCallClass } from "@soong/core/internal";
import type { LiveCall } from "./live-call.ts";
import { neverCalled } from "./recorded-call.ts";

/** `catalogs`: where surfaces go, in the order they came. */
export function createWatchingJournal(
  calls: ReadonlyMap<string, LiveCall>,
  catalogs: Fact<"tool.catalog.resolved">[],
): Journal {
  /** The call whose start was appended last. */
  let starting: LiveCall | undefined;
  return {
    append({ facts }) {
      starting = undefined;
      facts.forEach(watch);
    },
    async flush() {
      if (starting !== undefined && neverCalled(starting.recorded)) await starting.durable.promise;
    },
    read: async () => [],
  };

  function watch(fact: Fact): void {
    if (fact.type === "tool.catalog.resolved") catalogs.push(fact);
    const call = fact.tool_call_id === undefined ? undefined : calls.get(fact.tool_call_id);
    if (call === undefined) return;
    if (fact.type === "tool.requested") call.tool_name = fact.tool_name ?? "";
    else if (fact.type === "tool.validated") call.validated = fact;
    else if (fact.type === "tool.queued") call.class = readCallClass(fact.data.class);
    else if (fact.type === "permission.evaluated") call.judgements.push(fact);
    else if (fact.type === "permission.requested" || fact.type === "permission.failed")
      call.asked = true;
    else if (fact.type === "tool.started") {
      call.started = true;
      starting = call;
    } else if (isTerminalFact(fact)) call.result = fact.data.result;
  }
}
