// `soong sessions search`: text in the conversations that are kept, by the view of a result that is made for it (RESULT-5).

import { isTerminalFact, viewsOf, type ConversationNode, type ToolResult } from "@soong/core";
import type { SessionReader, Store } from "@soong/store";
import { EXIT, fit, UsageError, visibleLine, type Output } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { withReadOnlyStore } from "../stored.ts";
import { argument, JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "search",
  summary: "find text in the stored conversations, newest first",
  arguments: [argument("<text>", "as it is written there; A to Z in either case")],
  options: [option("--limit <n>", "at most so many").default("20"), JSON_OPTION],
  examples: ['soong sessions search "connection refused"'],
  exitCodes: "0 found, 1 not found",
  run: searchSessions,
};

interface SearchOptions {
  readonly json?: boolean;
  readonly limit?: string;
}

interface Match {
  readonly session_id: string;
  readonly run_id: string;
  readonly node_id: string;
  readonly kind: ConversationNode["kind"];
  readonly tool_name?: string;
  /** The line it is in, or part of it. */
  readonly excerpt: string;
}

const PAGE = 100;
const EXCERPT_CHARS = 200;

async function searchSessions(
  context: CommandContext,
  text: string,
  { json = false, limit = "20" }: SearchOptions,
): Promise<number> {
  if (text.trim() === "") throw new UsageError("Say what to search for.");
  const most = Number(limit);
  if (!Number.isSafeInteger(most) || most < 1) {
    throw new UsageError(`--limit takes a number from 1 on, not ${visibleLine(limit)}.`);
  }
  const { output } = context;
  return withReadOnlyStore(
    context,
    async (store) => {
      let count = 0;
      for await (const match of matches(store, text)) {
        if (json) output.record("soong.sessions_search/1", match);
        else show(output, match);
        count += 1;
        await output.drained();
        if (count === most || output.isClosed) break;
      }
      if (count === 0) output.note(`No conversation has ${visibleLine(text)}.`);
      return count === 0 ? EXIT.failed : EXIT.ok;
    },
    () => {
      output.note("No sessions are kept yet.");
      return EXIT.failed;
    },
  );
}

async function* matches(store: Store, text: string): AsyncGenerator<Match> {
  const wanted = toLowerAscii(text);
  for (let before: number | undefined; ;) {
    const page = await store.searchNodes(text, {
      limit: PAGE,
      before,
    });
    for (const { session_id, node } of page) {
      const { run_id, node_id, kind } = node;
      const { searched, tool_name } = await searchedText(await store.readSession(session_id), node);
      const at = toLowerAscii(searched).indexOf(wanted);
      if (at === -1) continue;
      const excerpt = excerptAt(searched, at);
      yield {
        session_id,
        run_id,
        node_id,
        kind,
        tool_name,
        excerpt,
      };
    }
    before = page.at(-1)?.position;
    if (page.length < PAGE) return;
  }
}

/** A result has a view of its own for this; of anything else it is what the model reads. */
async function searchedText(
  reader: SessionReader,
  node: ConversationNode,
): Promise<{ searched: string; tool_name?: string }> {
  const result = node.kind === "tool_result" ? await readResult(reader, node) : undefined;
  if (result !== undefined) {
    return { searched: viewsOf(result).search, tool_name: result.tool_name };
  }
  const texts = node.content.map((block) => ("text" in block ? block.text : ""));
  return { searched: texts.join("\n") };
}

async function readResult(
  reader: SessionReader,
  { run_id, tool_call_id }: ConversationNode,
): Promise<ToolResult | undefined> {
  if (tool_call_id === undefined) return undefined;
  const facts = await reader.facts({ run_id, tool_call_id });
  return facts.find(isTerminalFact)?.data.result;
}

function excerptAt(text: string, at: number): string {
  const start = Math.max(text.lastIndexOf("\n", at) + 1, at - EXCERPT_CHARS / 2);
  return text.slice(start, start + EXCERPT_CHARS).split("\n", 1)[0] ?? "";
}

/** As the store compares: only A to Z have two cases for it. */
function toLowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function show(output: Output, { session_id, run_id, kind, tool_name, excerpt }: Match): void {
  const { bold, dim } = output.colours;
  const what = visibleLine(tool_name ?? kind.replace("_", " "));
  output.line(`${bold(visibleLine(session_id))}  ${what}  ${dim(visibleLine(run_id))}`);
  output.line(`    ${fit(visibleLine(excerpt), output.width - 4)}`);
}
