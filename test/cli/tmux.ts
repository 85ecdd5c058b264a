// A command at a terminal whose screen can be looked at as the user sees it: tmux keeps the screen. Each has a
// server of its own, which ends with the test that opened it.

import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

export interface Tmux {
  /** The bytes of this text, as a keyboard sends them: `"yes\r"`, `"\u0003"` for Ctrl-C, `"\u001b[A"`. */
  type(text: string): Promise<void>;
  /** Keys by tmux's names, in the form this terminal sends them: `"Up"`, `"C-c"`, `"M-Enter"`, `"Home"`. */
  press(...keys: readonly string[]): Promise<void>;
  /** As the terminal pastes: in brackets, if the program asked for them. */
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** The screen, once it shows this; fails with the screen when it never does. */
  waitFor(shown: string | RegExp | ((screen: string) => boolean)): Promise<string>;
  /** The visible lines, without the blanks at their ends and the empty lines at the bottom. */
  screen(): Promise<string>;
  /** What has scrolled away, and the screen. A line that was wrapped is one line. */
  scrollback(): Promise<string>;
  /** Where the cursor stands, from 0, and whether it is shown. */
  cursor(): Promise<{ readonly column: number; readonly row: number; readonly shown: boolean }>;
  /** Once the command has ended: its exit code, or 128 and the signal's number. The screen can still be read. */
  end(): Promise<number>;
  /** Takes the terminal away from whatever runs there. Done on its own when the test is over. */
  kill(): Promise<void>;
}

export interface TmuxOptions {
  readonly columns: number;
  readonly rows: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** All of it; TERM is tmux's own unless given. */
  readonly env: Readonly<Record<string, string>>;
}

/** Needs one that types bytes as they are: 3.0 or later. */
export function canUseTmux(): boolean {
  try {
    const version = execFileSync("tmux", ["-V"], { encoding: "utf8", stdio: "pipe" });
    return Number(/(\d+\.\d+)/.exec(version)?.[1] ?? 0) >= 3;
  } catch {
    return false;
  }
}

export async function openTmux({ columns, rows, argv, cwd, env }: TmuxOptions): Promise<Tmux> {
  const folder = mkdtempSync(join(tmpdir(), "soong-tmux-"));
  let killed: Promise<void> | undefined;
  const kill = (): Promise<void> => (killed ??= remove());
  onTestFinished(kill);

  writeFileSync(join(folder, "tmux.conf"), SETTINGS);

  const environment = Object.entries({ TERM: "tmux-256color", ...env });
  const command = [
    ...TELLING_HOW_IT_ENDED,
    "env",
    "-i",
    ...environment.map(([name, value]) => `${name}=${value}`),
    ...argv,
  ].map(quoted);
  await tmux("new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, "-c", cwd, ...command);

  return {
    async type(text) {
      const bytes = Array.from(Buffer.from(text), (byte) => byte.toString(16));
      for (let at = 0; at < bytes.length; at += 2000) {
        await tmux("send-keys", "-H", ...bytes.slice(at, at + 2000));
      }
    },
    press: async (...keys) => void (await tmux("send-keys", ...keys)),
    paste: async (text) =>
      void (await tmux("set-buffer", "--", quoted(text), ";", "paste-buffer", "-p", "-r", "-d")),
    resize: async (columns, rows) =>
      void (await tmux("resize-window", "-x", `${columns}`, "-y", `${rows}`)),
    async waitFor(shown) {
      const isShown =
        typeof shown === "function"
          ? shown
          : (screen: string) =>
              typeof shown === "string" ? screen.includes(shown) : shown.test(screen);
      const wanted =
        typeof shown === "function" ? "what was asked for" : JSON.stringify(`${shown}`);
      return until(`${wanted} on the screen`, async () => {
        const seen = await screen();
        return isShown(seen) ? seen : undefined;
      });
    },
    screen,
    scrollback: () => tmux("capture-pane", "-p", "-J", "-S", "-"),
    async cursor() {
      const [column, row, flag] = (await ask("#{cursor_x} #{cursor_y} #{cursor_flag}")).split(" ");
      return { column: Number(column), row: Number(row), shown: flag === "1" };
    },
    end: () =>
      until("the end of the command", async () => {
        const [, code] = /^ended (\d+)$/.exec(await ask("#{pane_title}")) ?? [];
        return code === undefined ? undefined : Number(code);
      }),
    kill,
  };

  async function screen(): Promise<string> {
    return (await tmux("capture-pane", "-p")).trimEnd();
  }

  async function ask(format: string): Promise<string> {
    return (await tmux("display-message", "-p", format)).trimEnd();
  }

  /** Asked again and again: a screen tells no one that it changed. */
  async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    const deadline = Date.now() + LONGEST_MS;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (Date.now() > deadline) {
        throw new Error(`No sight of ${what}. The screen:\n${await screen()}`);
      }
      await pause(LOOK_EVERY_MS);
    }
  }

  async function tmux(...args: string[]): Promise<string> {
    const { stdout } = await execute(
      "tmux",
      ["-u", "-S", join(folder, "socket"), "-f", join(folder, "tmux.conf"), ...args],
      { env: { PATH: process.env["PATH"] ?? "", TERM: "xterm" }, maxBuffer: 64 * 1024 * 1024 },
    );
    return stdout;
  }

  async function remove(): Promise<void> {
    // A server that is gone already cannot be ended.
    await tmux("kill-server").catch(() => {});
    await rm(folder, { recursive: true, force: true });
  }
}

/** A last ";" would end the command for tmux. */
function quoted(argument: string): string {
  return argument.replace(/;$/, "\\;");
}

// Behind the last thing the command wrote, the title of the terminal says how it ended. The terminal stays
// open: tmux may drop what it has not read yet from one that closes.
const TELLING_HOW_IT_ENDED = [
  "sh",
  "-c",
  `trap : INT QUIT TERM
trap exit HUP
"$@"
printf '\\033]2;ended %d\\007' $?
exec sleep 86400`,
  "sh",
] as const;

// An ESC is passed on at once.
const SETTINGS = `
set-option -g status off
set-option -g history-limit 2000000
set-option -s escape-time 0
`;

const execute = promisify(execFile);
const LONGEST_MS = 30_000;
const LOOK_EVERY_MS = 25;
