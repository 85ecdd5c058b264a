// What a conversation begins with: where it is and with whom, and how it went on so far.

import type { ConversationNode } from "@soong/core";
import { fit, visible, visibleLine, wrap } from "../output/index.ts";
import type { Terminal } from "../terminal/index.ts";
import type { Talk } from "./talk.ts";

export async function openingText(
  { columns, colours }: Pick<Terminal, "columns" | "colours">,
  talk: Talk,
  project: string,
): Promise<string> {
  const { bold, dim } = colours;
  const parts = [
    visibleLine(talk.model),
    visibleLine(project),
    `mode ${talk.mode}`,
    visibleLine(talk.session_id),
    "/help",
  ];
  const [first = "", ...more] = wrap(`${NAME} ${parts.join(" · ")}`, columns - 1);
  return [
    `${bold(NAME)}${dim(first.slice(NAME.length))}`,
    ...more.map(dim),
    ...before(await talk.history()),
  ].join("\n");

  function before(history: readonly ConversationNode[]): string[] {
    const said = history.filter(({ kind }) => kind === "message");
    if (said.length === 0) return [];
    const last = said.findLast(({ data }) => data?.["role"] === "assistant");
    const lines = visible(textOf(last)).trimEnd().split("\n");
    const shown = lines.slice(-MOST_LINES).map((line) => fit(line, columns - 1));
    return [dim(`It continues after ${said.length} messages; the last answer was:`), ...shown];
  }
}

const NAME = "soong";
const MOST_LINES = 6;

function textOf(node: ConversationNode | undefined): string {
  return (node?.content ?? [])
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}
