// The commands of a conversation: /help and the others, and the user's own. Each says what it does in a line, and whether
// a turn that is under way keeps it waiting.

import { nearestName } from "@soong/schema";
import { fit, pad, visible, visibleLine, wrap } from "../output/index.ts";
import { fillCommand } from "./own-commands.ts";
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
      terminal.print(`/${name} has to wait for the end of the turn; Esc ends it.`);
      return "not_now";
    }
    return (await command.run(host, rest)) ?? "stay";
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    terminal.print(terminal.colours.red(visible(message)));
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
    terminal.print(wrap(sentence, terminal.columns - 1).join("\n"));
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
const KEYS = [
  "@path attaches a file of the project, or an image; @@ writes an @.",
  "!command runs a command here, and the model reads what came of it.",
  "# text remembers something for this project. // begins a prompt with a /.",
  "Alt-Enter, or \\ before Enter, begins a new line. Tab completes @paths and",
  "/commands; the arrows bring back what was typed before.",
  "Enter during a turn queues your text for its next request; Up on the",
  "empty line takes it back. Esc stops the turn; twice, it clears the line.",
  "Ctrl-O shows the last result whole, again the one before it; Alt-M shows the",
  "last answer as Markdown.",
  "Ctrl-C stops the turn or clears the line; twice at the empty line, exit",
  "or Ctrl-D, leaves.",
];

const COMMANDS: SlashCommands = {
  help: {
    usage: "/help",
    says: "what can be typed here",
    async run({ terminal, own }) {
      const { bold, dim, red } = terminal.colours;
      const width = terminal.columns - 1;
      const { commands, problems } = await own.ownCommands();
      const builtIn = Object.values(COMMANDS).map(({ usage, says }) => [usage, says] as const);
      const ofUser = commands.map(({ name, hint, description }) => {
        const about = Object.hasOwn(COMMANDS, name)
          ? "(hidden by the command of this name)"
          : description;
        return [`/${name} ${hint}`.trimEnd(), about] as const;
      });
      const line = ([usage, says]: readonly [string, string]): string => {
        const shown = pad(visibleLine(usage), USAGE_WIDTH);
        const room = width - Array.from(shown).length - 1;
        return `${bold(shown)} ${fit(visibleLine(says), Math.max(1, room))}`;
      };
      terminal.print(
        [
          ...builtIn.map(line),
          ...(ofUser.length === 0 ? [] : ["", "Your own:", ...ofUser.map(line)]),
          ...problems.map((problem) => red(visible(problem))),
          "",
          ...KEYS.map((text) => dim(text)),
        ].join("\n"),
      );
    },
  },
  ...SETTINGS_COMMANDS,
  ...CHANGE_COMMANDS,
  ...SESSION_COMMANDS,
  quit: { usage: "/quit", says: "leave; everything is kept", run: () => "quit" },
};

const BUILT_IN: readonly string[] = Object.keys(COMMANDS);
