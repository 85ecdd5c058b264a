// `soong sessions search`: text in the stored conversations, by the view of a result that is made for it (RESULT-5).

import type { ConversationNode } from "@soong/core";
import type { Store } from "@soong/store";
import { EXIT, fit, UsageError, visibleLine } from "../../output/index.ts";
import type { Handler } from "../handler.ts";
import { withReadOnlyStore } from "../stored.ts";

interface Match {
  readonly session_id: string;
  readonly run_id: string;
  readonly node_id: string;
  readonly kind: ConversationNode["kind"];
  readonly tool_name?: string;
  /** The line it is in, or part of it. */
  readonly excerpt: string;
}

const EXCERPT_CHARS = 200;

export const searchSessions: Handler<"sessions search"> = async (
  context,
  { text },
  { limit = "20" },
) => {
  if (text.trim() === "") throw new UsageError("Say what to search for.");
  const most = Number(limit);
  if (!Number.isSafeInteger(most) || most < 1) {
    throw new UsageError(`--limit takes a number from 1 on, not ${visibleLine(limit)}.`);
  }
  const { output, print } = context;
  const { bold, dim } = output.colours;
  const noneStored = (): number => {
    output.note("No sessions are kept yet.");
    return EXIT.failed;
  };
  return withReadOnlyStore<number>(context, noneStored, async (store) => {
    let count = 0;
    for await (const match of findMatches(store, text)) {
      const { session_id, run_id, kind, tool_name, excerpt } = match;
      print(match, () => {
        const what = visibleLine(tool_name ?? kind.replace("_", " "));
        return [
          `${bold(visibleLine(session_id))}  ${what}  ${dim(visibleLine(run_id))}`,
          `    ${fit(visibleLine(excerpt), output.width - 4)}`,
        ];
      });
      count += 1;
      await output.drained();
      if (count === most || output.isClosed) break;
    }
    if (count === 0) output.note(`No conversation has ${visibleLine(text)}.`);
    return count === 0 ? EXIT.failed : EXIT.ok;
  });
};

async function* findMatches(store: Store, text: string): AsyncGenerator<Match, undefined> {
  for (let before: number | undefined; ;) {
    const { found, next } = await store.searchNodes(text, { before });
    for (const { session_id, node, tool_name, text: searched, at } of found) {
      const { run_id, node_id, kind } = node;
      const start = Math.max(searched.lastIndexOf("\n", at) + 1, at - EXCERPT_CHARS / 2);
      const [excerpt = ""] = searched.slice(start, start + EXCERPT_CHARS).split("\n", 1);
      yield { session_id, run_id, node_id, kind, tool_name, excerpt };
    }
    if (next === undefined) return undefined;
    before = next;
  }
}
