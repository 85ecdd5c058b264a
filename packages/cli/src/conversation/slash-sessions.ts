// Commands about sessions: the list, another one, a new one, what it has used, what fills the window, a file of it.

import { writeFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { describeUsage, messageText } from "@soong/agent";
import { messageOf } from "@soong/core";
import { pad, visibleLine } from "../output/index.ts";
import { pickOne } from "../terminal/pick-one.ts";
import { describeCount, type ContextData } from "./session-meter.ts";
import { printText } from "./print-text.ts";
import type { SlashCommands, SlashHost } from "./slash-command.ts";
import { openingText } from "./talk.ts";

export const SESSION_COMMANDS: SlashCommands = {
  cost: {
    usage: "/cost",
    says: "what this session has used",
    run({ terminal, talk }) {
      const used = describeUsage(talk.meter.usage);
      terminal.print(used === "" ? "No model was asked in this session yet." : `${used}.`);
    },
  },
  context: {
    usage: "/context",
    says: "what fills the window of the model",
    async run({ terminal, talk }) {
      const { meter, window } = talk;
      const context = meter.context();
      if (context === undefined)
        return printText(
          terminal,
          "No request was made since the conversation began or was summed up.",
        );
      const recalled = (await talk.readPath()).filter(({ kind }) => kind === "memory_context");
      const memory = recalled.flatMap(({ content }) => content);
      const figures = { counted: meter.contextTokens, window, memory: messageText(memory).length };
      terminal.print(renderContext(context, figures).join("\n"));
    },
  },
  sessions: {
    usage: "/sessions",
    says: "sessions of this project",
    async run({ terminal, own }) {
      terminal.print(await own.sessions());
    },
  },
  resume: {
    usage: "/resume [ID]",
    says: "continue another session of this project",
    waits: true,
    async run(host, given) {
      const { terminal, talk, own, project } = host;
      const session_id = given === "" ? await pickSession(host) : await own.findSession(given);
      if (session_id === undefined) return terminal.print("Nothing has changed.");
      if (session_id === talk.session_id) return terminal.print("That is this session.");
      await talk.switchTo(session_id, await own.usedBefore(session_id));
      terminal.print(await openingText(terminal, talk, project));
      return talk.wasInterrupted ? "continue" : "stay";
    },
  },
  new: { usage: "/new", says: "begin a new session", waits: true, run: startAnew },
  clear: { usage: "/clear", says: "the same as /new", waits: true, run: startAnew },
  export: {
    usage: "/export [FILE]",
    says: "write the conversation into a file, as Markdown",
    async run({ terminal, talk, own, project }, given) {
      if (!talk.isKept) return terminal.print("Nothing was said yet.");
      const file = resolve(project, given === "" ? `${talk.session_id}.md` : given);
      const text = await own.transcript(talk.session_id);
      try {
        await writeFile(file, text, { flag: "wx", mode: 0o600 });
      } catch (error) {
        const { code } = error as { code?: string };
        throw new Error(
          code === "EEXIST"
            ? `${file} exists already; give another name: /export FILE.`
            : `It cannot be written: ${messageOf(error)}`,
          { cause: error },
        );
      }
      const shown = relative(project, file);
      printText(terminal, `Written: ${visibleLine(shown.startsWith("..") ? file : shown)}`);
    },
  },
};

async function startAnew({ terminal, talk }: SlashHost): Promise<void> {
  await talk.startAnew();
  const said = "It knows nothing of what was said.";
  printText(terminal, `A new session: ${visibleLine(talk.session_id)}. ${said}`);
}

async function pickSession({ terminal, keyboard, talk, own, left: signal }: SlashHost) {
  const others = (await own.resumable()).filter(({ session_id }) => session_id !== talk.session_id);
  if (others.length === 0) throw new Error("There is no other conversation of this project.");
  const items = others.map(({ session_id, title, hint }) => ({
    label: title === "" ? session_id : title,
    hint,
    value: session_id,
  }));
  return keyboard.first(() => pickOne(terminal, { title: "Resume which session?", items, signal }));
}

const CHARS_A_TOKEN = 4;
const NAME_WIDTH = 14;
const BAR = 20;

export interface ContextFigures {
  /** In tokens: the sum as its provider counted, where it did. */
  readonly counted: number | undefined;
  readonly window: number | undefined;
  /** In characters: what was recalled. */
  readonly memory: number;
}

/** Estimated part by part. */
export function renderContext(
  context: ContextData,
  { counted, window, memory: recalled }: ContextFigures,
): string[] {
  const { estimated, tools = 0 } = context.tokens;
  const system = sumChars(context.system, (from) => from !== "instructions");
  const instructions = sumChars(context.system, (from) => from === "instructions");
  const board = Math.ceil(context.board.chars / CHARS_A_TOKEN);
  const memory = Math.ceil(recalled / CHARS_A_TOKEN);
  const messages = Math.max(0, estimated - system - instructions - tools - board - memory);
  const parts: readonly (readonly [string, number, string])[] = [
    ["system", system, ""],
    ["instructions", instructions, countThings(context.instruction_refs, "file")],
    ["tools", tools, `${context.tools.loaded} of them`],
    ["memory", memory, countThings(context.memory_refs, "recall")],
    ["messages", messages, describeMessages(context)],
    ["board", board, ""],
  ];
  const whole = window ?? estimated;
  const total = counted ?? estimated;
  const share =
    window === undefined
      ? "; the window of the model is not known"
      : ` of ${describeCount(window)} (${Math.round((100 * total) / window)}%)`;
  return [
    `The last request held ${describeCount(total)} tokens${share}. By estimate:`,
    ...parts
      .filter(([, tokens]) => tokens > 0)
      .map(([name, tokens, about]) => {
        const bar = "█".repeat(Math.round((BAR * Math.min(tokens, whole)) / Math.max(1, whole)));
        return `  ${pad(name, NAME_WIDTH)}${pad(describeCount(tokens), 6)} ${pad(bar, BAR)} ${about}`.trimEnd();
      }),
  ];
}

function describeMessages({ history, file_refs, skill_refs }: ContextData): string {
  const { nodes } = history as { nodes?: number };
  return [
    nodes === undefined ? "" : `${nodes} entries`,
    countThings(file_refs, "file"),
    countThings(skill_refs, "skill"),
  ]
    .filter((text) => text !== "")
    .join(", ");
}

function countThings(list: readonly unknown[], one: string): string {
  return list.length === 0 ? "" : `${list.length} ${list.length === 1 ? one : `${one}s`}`;
}

function sumChars(texts: ContextData["system"], wanted: (from: string) => boolean): number {
  const chars = (texts as readonly { from: string; chars: number }[])
    .filter(({ from }) => wanted(from))
    .reduce((sum, one) => sum + one.chars, 0);
  return Math.ceil(chars / CHARS_A_TOKEN);
}
