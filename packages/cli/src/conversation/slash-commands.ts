// The commands of a conversation: /help and the others. Each says what it does in a line, and whether a turn that is
// under way keeps it waiting.

import type { Mode } from "@soong/core";
import { describeScopes, MODES } from "@soong/core/internal";
import { nearestName } from "@soong/schema";
import { renderDiff, pad, visible, visibleLine } from "../output/index.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { expandResult, readOutputWish, showRawAnswer } from "./expand-result.ts";
import type { Keyboard } from "./keyboard.ts";
import type { ShownResults } from "./shown-results.ts";
import type { Talk } from "./talk.ts";

export interface SlashHost {
  readonly terminal: Terminal;
  readonly keyboard: Keyboard;
  readonly talk: Talk;
  readonly isRunning: boolean;
  readonly results: ShownResults;
  /** The last change of a file that was shown, whole. */
  readonly lastDiff: string | undefined;
  readonly own: SharedCommands;
  /** The conversation is being left. */
  readonly left: AbortSignal;
}

/** What needs parts of the program that this module does not know. */
export interface SharedCommands {
  /** Of the config and the environment. */
  models(): Promise<readonly string[]>;
  tools(query: string, mode: Mode): Promise<string>;
  sessions(): Promise<string>;
  /** The last change in the project, ready to be taken back. Throws a sentence where there is none. */
  lastChange(): Promise<UndoPrompt>;
}

export interface UndoPrompt {
  readonly question: string;
  /** From the file as it is to the file as it was. */
  readonly diff: string | undefined;
  /** Answers with what was done. */
  revert(): Promise<string>;
}

export type SlashEnd = "stay" | "quit" | "not_now" | "unknown";

interface SlashCommand {
  readonly usage: string;
  readonly says: string;
  /** Changes what a turn works with. */
  readonly waits?: true;
  run(host: SlashHost, rest: string): Promise<"quit" | void> | "quit" | void;
}

/** What goes wrong in a command is printed, and the conversation continues. */
export async function runSlashCommand(
  host: SlashHost,
  { name, rest }: { readonly name: string; readonly rest: string },
): Promise<SlashEnd> {
  const { terminal, isRunning } = host;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const nearest = nearestName(name, SLASH_NAMES);
    const hint = nearest === undefined ? "" : ` Did you mean /${nearest}?`;
    terminal.print(
      `There is no command /${visibleLine(name)}.${hint} /help lists them; // begins a prompt with a slash.`,
    );
    return "unknown";
  }
  if (command.waits === true && isRunning) {
    terminal.print(`/${name} has to wait for the end of the turn; Ctrl-C ends it.`);
    return "not_now";
  }
  try {
    return (await command.run(host, rest)) ?? "stay";
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    terminal.print(terminal.colours.red(visible(message)));
    return "stay";
  }
}

const USAGE_WIDTH = 20;
const KEYS = [
  "@path attaches a file of the project; @@ writes an @; // at the beginning a /.",
  "Alt-Enter, or \\ before Enter, begins a new line. Tab completes @paths and",
  "/commands; the arrows bring back what was typed before.",
  "Ctrl-O shows the last result whole, again the one before it; Alt-M shows the",
  "last answer as Markdown.",
  "Enter during a turn gives your text to it. Ctrl-C stops the turn, or",
  "clears what is typed; twice at the empty line, or Ctrl-D, leaves.",
];

const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  help: {
    usage: "/help",
    says: "what can be typed here",
    run({ terminal }) {
      const { bold, dim } = terminal.colours;
      const lines = Object.values(COMMANDS).map(
        ({ usage, says }) => `${bold(pad(usage, USAGE_WIDTH))} ${says}`,
      );
      terminal.print([...lines, "", ...KEYS.map((line) => dim(line))].join("\n"));
    },
  },
  model: {
    usage: "/model [MODEL]",
    says: "the models there are; use one from now on",
    async run({ terminal, talk, own }, reference) {
      if (reference !== "") {
        await talk.useModel(reference);
        return terminal.print(`From the next prompt on ${visibleLine(talk.model)} answers.`);
      }
      const about = `${visibleLine(talk.model)} answers. /model takes a profile of the config, provider:model or script:FILE.`;
      const others = (await own.models()).map((name) => `  /model ${visibleLine(name)}`);
      terminal.print([about, ...others].join("\n"));
    },
  },
  mode: {
    usage: "/mode [MODE]",
    says: "normal, plan, accept_edits or orchestrator, from now on",
    run({ terminal, talk }, wanted) {
      const next = MODES.find((one) => one === wanted);
      if (next !== undefined) {
        talk.useMode(next);
        return terminal.print(`From the next prompt on the mode is ${next}.`);
      }
      const wrong = wanted === "" ? "" : `There is no mode ${visibleLine(wanted)}. `;
      terminal.print(`${wrong}The mode is ${talk.mode}; there are ${MODES.join(", ")}.`);
    },
  },
  tools: {
    usage: "/tools [WORDS]",
    says: "the tools of the next turn, or a search among them",
    async run({ terminal, talk, own }, query) {
      terminal.print(await own.tools(query, talk.mode));
    },
  },
  grants: {
    usage: "/grants [revoke ID]",
    says: "what you allowed for this session; take it back",
    run({ terminal, talk }, rest) {
      const [, id] = /^revoke\s+(\S+)$/.exec(rest) ?? [];
      if (id !== undefined) {
        const revoked = talk.revokeGrant(id);
        return terminal.print(
          revoked === undefined
            ? `There is no grant ${visibleLine(id)}; /grants lists them.`
            : `Revoked: ${visibleLine(revoked.tool_name)} requires approval again.`,
        );
      }
      if (rest !== "") {
        return terminal.print(
          "/grants lists what you allowed for this session, /grants revoke ID takes it back.",
        );
      }
      const lines = talk.grants().map(({ grant_id, tool_name, scopes, granted_by }) => {
        const heading = `${terminal.colours.bold(visibleLine(grant_id))} by ${visibleLine(granted_by)}`;
        return `${heading}\n    ${visibleLine(describeScopes(tool_name, scopes))}`;
      });
      const nothing = "Nothing is allowed for this session beyond the rules.";
      terminal.print(lines.length === 0 ? nothing : lines.join("\n"));
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
  diff: {
    usage: "/diff",
    says: "the last change of a file, whole",
    run({ terminal, lastDiff }) {
      terminal.print(
        lastDiff === undefined
          ? "No file was changed in this conversation yet."
          : renderDiff(lastDiff.trimEnd(), terminal.colours),
      );
    },
  },
  undo: {
    usage: "/undo",
    says: "take the last change of a file back, after a question",
    waits: true,
    async run({ terminal, keyboard, own, left: signal }) {
      const change = await own.lastChange();
      if (change.diff !== undefined) {
        terminal.print(renderDiff(change.diff.trimEnd(), terminal.colours));
      }
      const question = `${change.question} [y]es / [n]o: `;
      const pressed = await keyboard.first(() =>
        terminal.readKey({ question, keys: ["y", "n"], signal }),
      );
      const isYes = pressed.kind === "key" && pressed.key === "y";
      terminal.print(isYes ? visible(await change.revert()) : "Nothing was taken back.");
    },
  },
  sessions: {
    usage: "/sessions",
    says: "sessions of this project, for `soong resume`",
    async run({ terminal, own }) {
      terminal.print(await own.sessions());
    },
  },
  new: {
    usage: "/new",
    says: "begin a new session",
    waits: true,
    async run({ terminal, talk }) {
      await talk.startAnew();
      terminal.print(
        `A new session: ${visibleLine(talk.session_id)}. It knows nothing of what was said.`,
      );
    },
  },
  quit: { usage: "/quit", says: "leave; everything is kept", run: () => "quit" },
};

export const SLASH_NAMES: readonly string[] = Object.keys(COMMANDS);
