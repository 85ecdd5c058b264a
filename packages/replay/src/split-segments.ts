// The facts of a run in pieces that can be looked at whole: one answer of a model with its calls, or calls a program made
// at once. Only one piece is held at a time, however long the run was.

import { isTerminalFact, type Fact } from "@soong/core";

export async function* splitSegments(facts: AsyncIterable<Fact>): AsyncGenerator<Fact[], void> {
  let segment: Fact[] = [];
  const open = new Set<string>();
  let streaming = false;
  for await (const fact of facts) {
    if (segment.length > 0 && !streaming && open.size === 0 && beginsAnother(fact)) {
      yield segment;
      segment = [];
    }
    segment.push(fact);
    if (fact.type === "model.started") streaming = true;
    else if (fact.type === "model.completed" || fact.type === "model.failed") streaming = false;
    else if (fact.type === "tool.requested") open.add(fact.tool_call_id ?? "");
    else if (isTerminalFact(fact)) open.delete(fact.tool_call_id ?? "");
  }
  if (segment.length > 0) yield segment;
}

function beginsAnother({ type, data }: Fact): boolean {
  if (type === "tool.requested") return data.index === 0;
  return type === "model.started" || type === "tool.catalog.resolved" || type.startsWith("run.");
}
