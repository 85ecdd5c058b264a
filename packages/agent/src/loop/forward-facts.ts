// What of the journal a screen wants to see as it happens: calls that start and say how far they are, and questions.

import type { FactType, Session } from "@soong/core";
import type { EventLog } from "./event-log.ts";

const FORWARDED: ReadonlySet<FactType> = new Set<FactType>([
  "tool.started",
  "tool.progress",
  "permission.requested",
  "permission.resolved",
  "permission.failed",
]);

/** Follows the facts of a run until it is stopped. A journal that cannot be read ends it, and nothing else. */
export function forwardFacts(
  session: Session,
  of: { readonly run_id: string; readonly after: number },
  log: EventLog,
): { stop(): void } {
  const facts = session.facts(of);
  void follow().catch(() => {});
  return { stop: () => void facts.return?.() };

  async function follow(): Promise<void> {
    for await (const fact of facts) if (FORWARDED.has(fact.type)) log.add({ type: "fact", fact });
  }
}
