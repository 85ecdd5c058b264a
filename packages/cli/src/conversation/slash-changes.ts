// Commands about what was changed and said: differences, undo, rewinding, summing up, and what the model knows.

import { readMessage } from "@soong/agent";
import type { ConversationNode } from "@soong/core";
import { oneLine } from "@soong/schema";
import { renderDiff } from "../output/index.ts";
import { pickOne } from "../terminal/pick-one.ts";
import { expandResult, readOutputWish, showRawAnswer } from "./expand-result.ts";
import { printText } from "./print-text.ts";
import type { SlashCommands } from "./slash-command.ts";
import { typedText } from "./transcript.ts";
import { writePrompt } from "./typed-line.ts";

export const CHANGE_COMMANDS: SlashCommands = {
  diff: {
    usage: "/diff",
    says: "the last change of a file, whole",
    run({ terminal, lastDiff }) {
      terminal.print(
        lastDiff === undefined ? NO_CHANGE : renderDiff(lastDiff.trimEnd(), terminal.colours),
      );
    },
  },
  output: {
    usage: "/output [N [PAGE]]",
    says: "the result of a call, whole; 1 is the last (Ctrl-O)",
    async run(host, rest) {
      const wish = readOutputWish(rest);
      if (wish === undefined) {
        return host.terminal.print("/output takes numbers: /output 2, or /output 2 1 for a page.");
      }
      await expandResult(host, wish.number, wish.page);
    },
  },
  raw: {
    usage: "/raw",
    says: "the last answer as the model wrote it (Alt-M)",
    run: (host) => showRawAnswer(host),
  },
  undo: {
    usage: "/undo",
    says: "take the last change of a file back, after a question",
    waits: true,
    async run({ terminal, keyboard, talk, own, left: signal }) {
      if (!talk.isKept) return printText(terminal, NO_CHANGE);
      const change = await own.lastChange(talk.session_id);
      if (change.diff !== undefined) {
        terminal.print(renderDiff(change.diff.trimEnd(), terminal.colours));
      }
      const question = `${change.question} [y]es / [n]o: `;
      const pressed = await keyboard.first(() =>
        terminal.readKey({ question, keys: ["y", "n"], signal }),
      );
      const isYes = pressed.kind === "key" && pressed.key === "y";
      printText(terminal, isYes ? await change.revert() : "Nothing was restored.");
    },
  },
  rewind: {
    usage: "/rewind",
    says: "go back to before a prompt; files stay as they are",
    waits: true,
    async run({ terminal, keyboard, talk, left: signal }) {
      const path = await talk.readPath();
      const points = listPrompts(path);
      if (points.length === 0) return terminal.print("Nothing was said yet.");
      const items = points.map((point) => ({ label: oneLine(point.text), value: point }));
      const point = await keyboard.first(() =>
        pickOne(terminal, { title: "Go back to before which prompt?", items, signal }),
      );
      if (point === undefined) return terminal.print("Nothing has changed.");
      if (point.before === undefined) await talk.startAnew();
      else await talk.rewindTo(point.before);
      terminal.print("Rewound; files are as they were (/undo takes changes back).");
      return { draft: writePrompt(point.text) };
    },
  },
  compact: {
    usage: "/compact",
    says: "sum up the older part of the conversation",
    waits: true,
    run: () => "compact",
  },
  memory: {
    usage: "/memory",
    says: "what is remembered; `# TEXT` adds to it",
    async run({ terminal, own }) {
      terminal.print(await own.memories());
    },
  },
  init: {
    usage: "/init",
    says: "let the model write an AGENTS.md for this project",
    waits: true,
    run: () => ({ send: INIT }),
  },
};

const NO_CHANGE = "No file was changed in this conversation yet.";

interface Point {
  readonly text: string;
  /** The node to continue from; undefined where nothing was said before. */
  readonly before: string | undefined;
}

/** The prompts of a conversation, newest first. */
export function listPrompts(path: readonly ConversationNode[]): Point[] {
  return path
    .flatMap((node): Point[] => {
      if (readMessage(node)?.role !== "user") return [];
      const text = typedText(node.content).trim();
      return text === "" ? [] : [{ text, before: node.parent_id }];
    })
    .toReversed();
}

const INIT = [
  "Write an AGENTS.md for this project, for agents that will work on it. Look first: the README, the manifests, the settings of",
  "build, test and lint, the layout of the sources, and instruction files of other agents (CLAUDE.md, GEMINI.md, .cursorrules,",
  "copilot-instructions.md) if there are any. Then write what such an agent cannot guess: what the project is, in two sentences; the",
  "commands to build, to test (one test, too), to lint and to format; how the code is laid out; the conventions it keeps; what to",
  "take care of. Be short and specific, and state nothing you have not seen. If there is an AGENTS.md, improve it and keep what",
  "people wrote.",
].join(" ");
