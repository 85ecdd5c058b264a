// What was said in a session, as its users read it: prompts, answers, and one entry for each call. Read from the path
// of an agent, so that what was rewound is not in it.

import { messageText, readMessage } from "@soong/agent";
import { describeArguments, type ContentBlock, type ConversationNode } from "@soong/core";
import { oneLine, shorten } from "@soong/schema";
import type { CallRecord } from "@soong/store";
import { createMarkdownStream } from "../markdown/markdown-stream.ts";
import { fit, visible, visibleLine, type Colours } from "../output/index.ts";
import { cutToWidth } from "../terminal/styled-text.ts";

export type TranscriptEntry =
  | { readonly kind: "prompt"; readonly node_id: string; readonly text: string }
  | {
      readonly kind: "answer";
      readonly node_id: string;
      readonly model: string;
      readonly text: string;
    }
  | {
      readonly kind: "call";
      readonly node_id: string;
      readonly tool_call_id: string;
      readonly tool_name: string;
      /** As the model sent it. */
      readonly arguments: string;
      /** Absent while it has not ended. */
      readonly status?: string;
      readonly is_error: boolean;
      /** What the model read of its result. */
      readonly result?: string;
    }
  /** What came before was summed up. */
  | { readonly kind: "compaction"; readonly node_id: string; readonly text: string };

export interface TranscriptOptions {
  /** With it, calls that no answer requested are entries, too, such as that of `soong call`. */
  readonly argumentsOf?: (tool_call_id: string) => string;
}

/** `path`: root first. `calls`: those of the session, for their names and how they ended. */
export function readTranscript(
  path: readonly ConversationNode[],
  calls: readonly CallRecord[],
  { argumentsOf }: TranscriptOptions = {},
): TranscriptEntry[] {
  const records = new Map(calls.map((call) => [call.tool_call_id, call]));
  const requested = new Set<string>();
  const results = new Map(
    path.flatMap((node) => (node.kind === "tool_result" ? [[node.tool_call_id, node]] : [])),
  );
  return path.flatMap((node): TranscriptEntry[] => {
    const { node_id, content } = node;
    if (node.kind === "compaction") {
      return [{ kind: "compaction", node_id, text: messageText(content) }];
    }
    const { tool_call_id: own } = node;
    if (node.kind === "tool_result" && own !== undefined && argumentsOf !== undefined) {
      return requested.has(own) ? [] : [describeCall(node_id, own, own, argumentsOf(own))];
    }
    const message = readMessage(node);
    if (message === undefined) return [];
    if (message.role === "user") return [{ kind: "prompt", node_id, text: promptText(content) }];
    const { model, text } = message;
    const called = message.calls.map(({ tool_call_id, name, arguments: given }) => {
      requested.add(tool_call_id);
      return describeCall(node_id, tool_call_id, name, given);
    });
    return [
      ...(text.trim() === "" ? [] : [{ kind: "answer" as const, node_id, model, text }]),
      ...called,
    ];
  });

  function describeCall(node_id: string, tool_call_id: string, name: string, given: string) {
    const { tool_name = name, status } = records.get(tool_call_id) ?? {};
    const result = results.get(tool_call_id);
    return {
      kind: "call" as const,
      node_id,
      tool_call_id,
      tool_name,
      arguments: given,
      ...(status === undefined ? {} : { status }),
      is_error: result?.is_error === true,
      ...(result === undefined ? {} : { result: messageText(result.content) }),
    };
  }
}

/** Without the files that were attached to it, which it names; of what the user ran before only the command. */
function promptText(content: readonly ContentBlock[]): string {
  const commands = content.flatMap((block) => readRunCommand(block) ?? []);
  return [...commands.map((command) => `!${command}`), typedText(content)].join("\n");
}

/** What was typed as the prompt, and nothing that was added to it. */
export function typedText(content: readonly ContentBlock[]): string {
  return messageText(
    content.filter(
      (block, at) =>
        content[at - 1]?.type !== "resource_link" && readRunCommand(block) === undefined,
    ),
  );
}

const RAN = "The user ran a command: ";

/** For the model: what the user ran, and what came of it. */
export function writeRunCommand(command: string, output: string): string {
  return `${RAN}${command}\n${output}`;
}

function readRunCommand(block: ContentBlock): string | undefined {
  if (block.type !== "text" || !block.text.startsWith(RAN)) return undefined;
  return block.text.slice(RAN.length).split("\n", 1)[0];
}

/** Its end, as a conversation shows it that continues: the last entries, a line a call, long texts without their middle. */
export function renderTranscriptEnd(
  entries: readonly TranscriptEntry[],
  { columns, colours }: { readonly columns: number; readonly colours: Colours },
): string[] {
  const { cyan, dim } = colours;
  const answer = createMarkdownStream({ colours, width: () => columns - 1 });
  return entries.slice(-MOST_ENTRIES).flatMap(renderEntry);

  function renderEntry(entry: TranscriptEntry): readonly string[] {
    switch (entry.kind) {
      case "prompt": {
        const lines = visible(entry.text).split("\n");
        const [first = "", ...more] = cutLines(lines, MOST_PROMPT_LINES);
        return [`${cyan("› ")}${first}`, ...more.map((line) => `  ${line}`)];
      }
      case "answer":
        return cutLines([...answer.push(entry.text.trim()), ...answer.end()], MOST_ANSWER_LINES);
      case "call":
        return [renderCall(entry, columns, colours)];
      case "compaction":
        return [dim("What came before was summed up.")];
    }
  }
}

/** How many entries such an end leaves out. */
export function countEarlier(entries: readonly TranscriptEntry[]): number {
  return Math.max(0, entries.length - MOST_ENTRIES);
}

const MOST_ENTRIES = 40;
const MOST_PROMPT_LINES = 12;
const MOST_ANSWER_LINES = 60;
const MOST_RESULT_CHARS = 400;
const MOST_ABOUT_CHARS = 200;

/** One line, as the conversation had it. */
export function renderCall(
  entry: Extract<TranscriptEntry, { kind: "call" }>,
  columns: number,
  { dim, green, red }: Colours,
): string {
  const { tool_name, status = "not ended", result = "", is_error } = entry;
  const about = visibleLine(shorten(describeArguments(entry.arguments) ?? "", MOST_ABOUT_CHARS));
  const target = about === "" ? "" : ` ${fit(about, Math.floor(columns / 3))}`;
  const name = `${visibleLine(tool_name)}${target}`;
  const said = visibleLine(oneLine(result.slice(0, MOST_RESULT_CHARS)));
  const isWell = status === "succeeded" && !is_error;
  const line = isWell
    ? `${green("✓")} ${name} ${dim(said)}`
    : `${red(`✗ ${name}`)} ${status}${said === "" ? "" : `: ${said}`}`;
  return cutToWidth(line, columns - 1).text;
}

/** Without the middle of many. */
function cutLines(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const half = Math.floor(most / 2);
  const omitted = lines.length - 2 * half;
  return [...lines.slice(0, half), `… ${omitted} lines …`, ...lines.slice(-half)];
}
