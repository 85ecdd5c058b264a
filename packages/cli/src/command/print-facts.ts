// The facts of a session as they come, one a line, for programs.

import { boundFact } from "@soong/core";
import type { Output } from "../output/index.ts";
import type { KeptSession } from "../runtime/index.ts";

export async function printFacts({ session, kept }: KeptSession, output: Output): Promise<void> {
  for await (const fact of session.facts({ after: kept.lastSeq ?? 0 })) {
    output.line(JSON.stringify(boundFact(fact)));
    await output.drained();
    if (output.isClosed) return;
  }
}
