// A recorded story: the real program at a real terminal with a scripted model, and what the screen holds at named
// moments, as one text. A test compares it with a file beside it (`toMatchFileSnapshot`): `npx vitest run test/cli/stories -u`
// writes the files again; with `CI` set none is ever written. What differs from run to run (paths, ids, times, token
// counts, versions) is replaced.

import { chmod, mkdtemp, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { bundleCli, environment, type Place } from "../cli-bundle.ts";
import { openTmux, type Tmux } from "../tmux.ts";

export interface StoryOptions {
  /** Scripted model, as YAML: what `--model script:s.yaml` reads. */
  readonly script?: string;
  /** Further files, by path in the project or absolute. */
  readonly files?: Readonly<Record<string, string>>;
  /** config.toml of the home. */
  readonly config?: string;
  /** Default: a conversation with the scripted model. */
  readonly args?: readonly string[];
  /** A shell instead of the program, with `soong` on its PATH. */
  readonly inShell?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Before the program starts, such as a first run to resume. */
  before?(place: Place): Promise<void>;
  readonly columns?: number;
  readonly rows?: number;
}

export interface Story extends Tmux {
  readonly place: Place;
  /** Records the screen under this title, once it shows this and has come to rest. */
  moment(title: string, shown: Parameters<Tmux["waitFor"]>[0]): Promise<string>;
}

/** For a story with commands: what a sandbox masks, and whether there is one, differs from machine to machine. */
export const WITHOUT_SANDBOX = 'sandbox = "off"\n';

/** Within a test: answers with what was recorded. Needs tmux. */
export async function tellStory(
  options: StoryOptions,
  tell: (story: Story) => Promise<void>,
): Promise<string> {
  const { script = "turns: []", files = {}, env = {}, columns = 80, rows = 40 } = options;
  const { args = ["--model", "script:s.yaml"] } = options;
  const bundle = await bundleCli();
  onTestFinished(() => bundle.remove());
  const around = await realpath(await mkdtemp("/tmp/soong-"));
  onTestFinished(() => rm(around, { recursive: true, force: true }));
  const place = await bundle.place(around);
  for (const [path, content] of Object.entries({ "s.yaml": script, ...files })) {
    await place.write(path, content);
  }
  if (options.config !== undefined) {
    await place.write(join(place.home, "config.toml"), options.config);
  }
  await options.before?.(place);
  const surroundings = environment(place.home, env);
  const bin = join(around, "bin");
  if (options.inShell === true) {
    const program = `#!/bin/sh\nexec "${process.execPath}" "${bundle.program}" "$@"\n`;
    await place.write(join(bin, "soong"), program);
    await chmod(join(bin, "soong"), 0o755);
  }
  const inShell = { ...surroundings, PATH: `${bin}:${surroundings["PATH"]}`, PS1: "$ " };
  const tmux = await openTmux({
    columns,
    rows,
    argv: options.inShell === true ? ["sh"] : [process.execPath, bundle.program, ...args],
    cwd: place.project,
    env: options.inShell === true ? inShell : surroundings,
  });
  const moments: string[] = [];
  await tell({
    ...tmux,
    place,
    async moment(title, shown) {
      const screen = await waitForRest(tmux, shown);
      const border = `── ${title} `.padEnd(columns, "─");
      moments.push(`${border}\n${normalise(screen, around)}\n`);
      return screen;
    },
  });
  return moments.join("\n");
}

/** Shown, and the same a little later: a screen is drawn in steps. */
async function waitForRest(tmux: Tmux, shown: Parameters<Tmux["waitFor"]>[0]): Promise<string> {
  for (;;) {
    const screen = await tmux.waitFor(shown);
    await pause(REST_MS);
    if (normalise(await tmux.screen(), "") === normalise(screen, "")) return screen;
  }
}

/** What stays the same from run to run. Stand-ins are as long as what they replace, where a line could be cut by it. */
function normalise(screen: string, around: string): string {
  return (around === "" ? screen : screen.replaceAll(around, STORY.slice(0, around.length)))
    .replaceAll(ID, (_, kind: string, rest: string) => `${kind}_${"0".repeat(rest.length)}`)
    .replaceAll(DATE, (date) => date.replaceAll(/\d/g, "0"))
    .replaceAll(/\d+(?= tokens?\b| out\b)/g, "N")
    .replaceAll(/\b(soong|version|node) v?\d+\.\d+\.\d+\S*/gi, "$1 0.0.0")
    .split("\n")
    .filter((line) => !WAITING.test(line))
    .map((line) => line.replace(CUT_BY_TIME, cutEarlier).replaceAll(DURATION, "").trimEnd())
    .join("\n");
}

/** How much a duration leaves of a line depends on its length. */
function cutEarlier(_: string, text: string, behind: string): string {
  return `${text.slice(0, SURE_CHARS).trimEnd()}…${behind}`;
}

const STORY = "/tmp/soong-story0";
const REST_MS = 100;
const ID = /\b([a-z]+)_([0-9a-v]{12}[0-9a-z]{5})\b/g;
const DATE = /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?/g;
/** A call that took no time shows none. */
const DURATION = /(?: · | |, )\d+(?:\.\d+)? (?:h \d+ min|min \d+ s|ms|s)(?= *$|[:;)])/g;
const SURE_CHARS = 60;
const CUT_BY_TIME = /^(.{60,})…((?: runs)? \d+(?:\.\d+)? (?:h \d+ min|min \d+ s|ms|s)\b|(?: runs))/;
/** Shown once the model has been quiet for a second. */
const WAITING = /^… the model, /;
