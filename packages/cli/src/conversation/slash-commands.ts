// The commands of a conversation: /help and the others, and the user's own. Each says what it does in a line, and whether
// a turn that is under way keeps it waiting.

import { nearestName } from "@soong/schema";
import { fit, pad, visible, visibleLine, wrap } from "../output/index.ts";
import { fillCommand } from "./own-commands.ts";
import { printError, printText } from "./print-text.ts";
import { CHANGE_COMMANDS } from "./slash-changes.ts";
import type { SlashCommands, SlashEnd, SlashHost, SharedCommands } from "./slash-command.ts";
import { SESSION_COMMANDS } from "./slash-sessions.ts";
import { SETTINGS_COMMANDS } from "./slash-settings.ts";

/** What goes wrong in a command is printed, and the conversation continues. */
export async function runSlashCommand(
  host: SlashHost,
  { name, rest }: { readonly name: string; readonly rest: string },
): Promise<SlashEnd> {
  const { terminal, isRunning, own } = host;
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (command === undefined) return await runOwnCommand(host, name, rest);
    if (command.waits === true && isRunning) {
      printText(terminal, `/${name} has to wait for the end of the turn; Esc ends it.`);
      return "not_now";
    }
    return (await command.run(host, rest)) ?? "stay";
  } catch (error) {
    printError(terminal, error);
    return "stay";
  }

  async function runOwnCommand(_: SlashHost, wanted: string, given: string): Promise<SlashEnd> {
    const { commands } = await own.ownCommands();
    const found = commands.find((one) => one.name === wanted);
    if (found !== undefined) return { send: fillCommand(found.text, given) };
    const nearest = nearestName(wanted, [...BUILT_IN, ...commands.map((one) => one.name)]);
    const hint = nearest === undefined ? "" : ` Did you mean /${nearest}?`;
    const known = "/help lists them; // begins a prompt with a slash.";
    const sentence = `There is no command /${visibleLine(wanted)}.${hint} ${known}`;
    printText(terminal, sentence);
    return "stay";
  }
}

/** For Tab: those of the program, and the user's own. */
export async function listCommandNames(
  own: Pick<SharedCommands, "ownCommands">,
): Promise<string[]> {
  const { commands } = await own.ownCommands();
  return [...new Set([...BUILT_IN, ...commands.map(({ name }) => name)])];
}

const USAGE_WIDTH = 25;
const FEWEST_COLUMNS = 60;

type HelpLine = readonly [typed: string, says: string];

const KEYS: readonly HelpLine[] = [
  ["@path", "attach a file of the project, or an image; @@ writes an @"],
  ["!command", "run a command; the model reads its output"],
  ["# text", "remember something for this project"],
  ["//", "begin a prompt with a /"],
  ["Alt-Enter, \\ Enter", "new line"],
  ["Tab", "complete @paths and /commands"],
  ["Up, Down", "earlier input; on the empty line, Up takes back queued text"],
  ["Enter during a turn", "queue your text for the next request of the turn"],
  ["Esc", "stop the turn; twice: clear the line, or /rewind"],
  ["Shift-Tab", "the next mode: normal, accept_edits, plan"],
  ["Ctrl-O", "the last result whole; again: the one before it"],
  ["Alt-M", "the last answer as Markdown"],
  ["Ctrl-C", "stop the turn, or clear the line; twice: leave"],
  ["Ctrl-D, exit", "leave"],
];

const HELP: SlashCommands = {
  help: {
    usage: "/help",
    says: "what can be typed here",
    async run({ terminal, own }) {
      const { bold, dim, red } = terminal.colours;
      const { commands, problems } = await own.ownCommands();
      const ofUser = commands.map(({ name, hint, description }): HelpLine => {
        const about = Object.hasOwn(COMMANDS, name)
          ? "(hidden by the command of this name)"
          : description;
        return [`/${name} ${hint}`.trimEnd(), about];
      });
      const groups: readonly (readonly [string, readonly HelpLine[]])[] = [
        ["Model, tools and rules", readLines(SETTINGS_COMMANDS)],
        ["Results and changes", readLines(CHANGE_COMMANDS)],
        ["Session", readLines({ ...SESSION_COMMANDS, ...LEAVING, ...HELP })],
        ["Your own", ofUser],
        ["Keys", KEYS],
      ];
      terminal.print(
        [
          ...groups
            .filter(([, lines]) => lines.length > 0)
            .flatMap(([title, lines]) => [dim(title), ...lines.flatMap(renderLine)]),
          ...problems.map((problem) => red(visible(problem))),
        ].join("\n"),
      );

      function renderLine([typed, says]: HelpLine): string[] {
        const width = terminal.columns - 1;
        if (width < FEWEST_COLUMNS) {
          return [`  ${bold(visibleLine(typed))}`, ...wrap(visibleLine(says), width, "    ")];
        }
        const shown = `  ${pad(visibleLine(typed), USAGE_WIDTH)}`;
        const room = width - Array.from(shown).length - 1;
        return [`${bold(shown)} ${fit(visibleLine(says), Math.max(1, room))}`];
      }
    },
  },
};

const LEAVING: SlashCommands = {
  quit: { usage: "/quit", says: "leave; everything is kept", run: () => "quit" },
};

const COMMANDS: SlashCommands = {
  ...HELP,
  ...SETTINGS_COMMANDS,
  ...CHANGE_COMMANDS,
  ...SESSION_COMMANDS,
  ...LEAVING,
};

function readLines(commands: SlashCommands): HelpLine[] {
  return Object.values(commands).map(({ usage, says }) => [usage, says]);
}

const BUILT_IN: readonly string[] = Object.keys(COMMANDS);
