// The terminal module on a real screen: what the user sees there, after keys, floods, resizes and stops.

import { readFileSync } from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { verifies } from "#laws";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { NODE_BUNDLE } from "../node-bundle.ts";
import { atTerminal, canMakeTerminals } from "./pseudo-terminal.ts";
import { canUseTmux, openTmux, type Tmux } from "./tmux.ts";

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "soong-terminal-")));
  await build({
    ...NODE_BUNDLE,
    entryPoints: [
      fileURLToPath(new URL("../../packages/cli/src/terminal/screen-terminal.ts", import.meta.url)),
    ],
    outfile: join(folder, "terminal.mjs"),
    packages: "external",
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const BEGINNING = `
import { openTerminal } from "./terminal.mjs";
const { stdin, stdout, env } = process;
const terminal = openTerminal({ stdin, stdout, env });
const say = (typed) => terminal.print("<" + JSON.stringify(typed).slice(1, -1).replaceAll('"', "") + ">");
`;

interface Size {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that has `terminal`, at a terminal. */
async function run(
  program: string,
  { columns = 80, rows = 24, env = {} }: Size = {},
): Promise<Tmux> {
  return openTmux({
    columns,
    rows,
    argv: [process.execPath, await fileOf(program)],
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", ...env },
  });
}

let files = 0;

async function fileOf(program: string): Promise<string> {
  const file = join(folder, `program-${(files += 1)}.mjs`);
  await writeFile(file, BEGINNING + program);
  return file;
}

/** Reads lines until one says "bye", and tells what each was. */
const ECHO = `
const history = ["first", "second"];
const names = ["/model", "/mode", "/help"];
for (;;) {
  const typed = await terminal.readInput({
    prompt: "> ",
    history,
    complete: async (word) => (word === "" ? [] : names.filter((one) => one.startsWith(word))),
  });
  say(typed);
  if (typed.kind === "end" || typed.text === "bye") break;
  history.push(typed.text);
}
terminal.close();
`;

/** A shell of which only the prompt is known, for what a program leaves behind. */
function shell(env: Readonly<Record<string, string>> = {}): Promise<Tmux> {
  return openTmux({
    columns: 80,
    rows: 24,
    argv: ["bash", "--norc", "--noprofile", "-i"],
    cwd: folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      PS1: "shell: ",
      BASH_SILENCE_DEPRECATION_WARNING: "1",
      ...env,
    },
  });
}

/** Whether the terminal edits lines on its own again, and pastes as if typed. */
async function expectGivenBack(screen: Tmux): Promise<void> {
  await screen.type("stty -a | grep -o -w -e '-*icanon' -e '-*echo' -e '-*isig'; echo done\r");
  await screen.waitFor(/^isig\nicanon\necho\ndone$/m);
  expect((await screen.cursor()).shown).toBe(true);
}

describe.skipIf(!canUseTmux())("a terminal with a screen (needs tmux)", () => {
  it("is edited as the user expects: characters, words, lines, what was typed before, Tab", async () => {
    verifies("CLI-1", "CLI-7");
    const screen = await run(ECHO);
    await screen.waitFor(/^>$/m);
    await screen.type("helo");
    await screen.press("Left");
    await screen.type("l");
    await screen.press("Home");
    await screen.type("日本 e\u0301👍");
    await screen.press("BSpace");
    await screen.type(" ");
    await screen.waitFor("> 日本 e\u0301 hello");
    expect(await screen.cursor()).toEqual({ column: 9, row: 0, shown: true });
    await screen.press("End", "C-w");
    await screen.type("bye!\r");
    await screen.waitFor("<kind:text,text:日本 e\u0301 bye!>");

    await screen.press("Up", "Up", "Up", "Down", "M-Enter");
    await screen.type("x\\\ry\nz");
    await screen.waitFor(/^> second\n {2}x\n {2}y\n {2}z$/m);
    await screen.press("Enter");
    await screen.waitFor("<kind:text,text:second\\nx\\ny\\nz>");

    await screen.type("/m\t");
    await screen.waitFor(/^\/model {2}\/mode\n> \/mode$/m);
    await screen.type("l\t, /h\t\r");
    const shown = await screen.waitFor("<kind:text,text:/model, /help>");
    expect(shown).not.toContain("/model  /mode");

    await screen.paste("several\nlines\nat once\n");
    await screen.waitFor(/^> several\n {2}lines\n {2}at once$/m);
    await screen.type("\u0003");
    await screen.waitFor("<kind:interrupt,text:several\\nlines\\nat once\\n>");
    expect(await screen.screen()).not.toContain("> several");
    await screen.press("C-d");
    await screen.waitFor("<kind:end>");
    expect(await screen.end()).toBe(0);
    expect(await screen.screen()).not.toMatch(/^>$/m);
  });

  it("keeps what was said above, on a narrow screen too, and what is live and typed below", async () => {
    verifies("CLI-1");
    const screen = await run(
      `
      const typed = terminal.readInput({ prompt: "> " });
      terminal.live(["a live line that is longer than that", "step 1"]);
      for (const word of "Words that come one by one, and many of them.\\nNext".split(/(?<= )/)) {
        terminal.write(word);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      terminal.live(["step 2"]);
      terminal.print("printed " + terminal.columns);
      say(await typed);
      terminal.live([]);
      terminal.close();
      `,
      { columns: 20, rows: 10 },
    );
    await screen.waitFor(/^printed 20\nstep 2\n>$/m);
    await screen.type("typed on a narrow screen");
    await screen.waitFor(
      [
        "Words that come one",
        "by one, and many of",
        "them.",
        "Next",
        "printed 20",
        "step 2",
        "> typed on a narrow",
        "   screen",
      ].join("\n"),
    );
    await screen.press("Enter");
    expect(await screen.end()).toBe(0);
    const said = (await screen.scrollback()).trimEnd().split("\n");
    expect(said).toEqual([
      "Words that come one by one, and many of them.",
      "Next",
      "printed 20",
      "> typed on a narrow screen",
      "<kind:text,text:typed on a narrow screen>",
    ]);
  });

  it("draws anew when its size changes, wider and narrower", async () => {
    verifies("CLI-1");
    const screen = await run(`
      for (let at = 0; at < 40; at += 1) terminal.print("said " + at);
      terminal.write("an open line that takes three rows where there are twenty columns");
      terminal.live(["a live line that is longer than a narrow screen is", "日本語日本語日本語日本語"]);
      await terminal.readInput({ prompt: "> ", initial: "a text of forty-eight columns to be typed here" });
      terminal.close();
    `);
    await screen.waitFor("typed here");
    const at40 = `
an open line that takes three rows where
 there are twenty columns
a live line that is longer than a narr…
日本語日本語日本語日本語
> a text of forty-eight columns to be t
  yped here`;
    const at24 = `
an open line that takes
three rows where there a
re twenty columns
a live line that is lo…
日本語日本語日本語日本…
> a text of forty-eight
   columns to be typed
  here`;
    const at60 = `
an open line that takes three rows where there are twenty co
lumns
a live line that is longer than a narrow screen is
日本語日本語日本語日本語
> a text of forty-eight columns to be typed here`;
    for (const [columns, rows, expected] of [
      [40, 24, at40],
      [60, 30, at60],
      [24, 30, at24],
      [60, 24, at60],
      [40, 12, at40],
    ] as const) {
      await screen.resize(columns, rows);
      await screen.waitFor((shown) => shown.endsWith(`said 39${expected}`));
    }
    await screen.press("Enter");
    expect(await screen.end()).toBe(0);
    const said = await screen.scrollback();
    for (const line of ["said 0\n", "said 39\n", "an open line", "> a text"]) {
      expect(said.split(line), line).toHaveLength(2);
    }
    expect(said).not.toContain("a live line");
  });

  it("stays readable and listens while a hundred thousand lines go by", async () => {
    verifies("CLI-1");
    const screen = await run(`
      let lines = 0;
      let typed;
      void terminal.readInput({ prompt: "> " }).then((line) => (typed = line));
      // The flood ends when what is typed into it was heard, and not before.
      while (typed === undefined || lines < 100_000) {
        for (let at = 0; at < 100; at += 1) terminal.write("line " + (lines += 1) + "\\n");
        terminal.live(["so far " + lines]);
        await new Promise((resolve) => setImmediate(resolve));
      }
      terminal.live([]);
      terminal.print("held " + process.stdout.writableLength);
      say(typed);
      terminal.close();
    `);
    await screen.waitFor(/^so far \d+\n>$/m);
    await screen.type("heard");
    await screen.waitFor("> heard");
    await screen.press("Enter");
    expect(await screen.end()).toBe(0);
    const said = (await screen.scrollback()).trimEnd().split("\n");
    expect(said.slice(-2)).toEqual(["held 0", "<kind:text,text:heard>"]);
    const lines = said.filter((line) => line.startsWith("line "));
    expect(lines.length).toBeGreaterThanOrEqual(100_000);
    expect(lines.find((line, at) => line !== `line ${at + 1}`)).toBeUndefined();
    expect(said.length).toBe(lines.length + 3);
  });

  it("puts a question in place of a line, and gives back what was typed there", async () => {
    verifies("CLI-1");
    const screen = await run(`
      const stop = new AbortController();
      const line = terminal.readInput({ prompt: "> ", signal: stop.signal });
      process.once("SIGUSR2", () => stop.abort());
      terminal.print("pid " + process.pid);
      const { kind, text } = await line;
      const question = "[y]es, once / yes, for this [s]ession / [n]o: ";
      say(await terminal.readKey({ question, keys: ["y", "s", "n"] }));
      say(await terminal.readKey({ question: "And now? ", keys: ["y", "s", "n"] }));
      say({ was: kind, ...(await terminal.readInput({ prompt: "> ", initial: text })) });
      say(await terminal.readKey({ question: "Really? ", keys: ["y"] }));
      terminal.close();
    `);
    const [, pid] = /pid (\d+)\n>$/.exec(await screen.waitFor(/pid \d+\n>$/)) ?? [];
    await screen.type("yes");
    await screen.waitFor("> yes");
    process.kill(Number(pid), "SIGUSR2");
    expect(await screen.waitFor("[n]o:")).not.toContain("> yes");
    await screen.type("?\u001b[A\ry");
    await screen.waitFor("[n]o: y\n<kind:key,key:y>\nAnd now?");
    await screen.paste("y");
    await screen.type("N");
    await screen.waitFor("And now? n\n<kind:key,key:n>\n> yes");
    await screen.type(" sir\r");
    await screen.waitFor("<was:aborted,kind:text,text:yes sir>\nReally?");
    await screen.press("C-c");
    expect(await screen.end()).toBe(0);
    expect(await screen.screen()).toMatch(/<kind:interrupt>$/);
  });

  it("notifies listeners of Ctrl-C while nothing is read, and of a signal like the key", async () => {
    verifies("CLI-1");
    const screen = await run(`
      const interrupt = () =>
        new Promise((resolve) => {
          const stop = terminal.onInterrupt(() => {
            stop();
            resolve();
          });
          terminal.print("working");
        });
      await interrupt();
      const outside = interrupt();
      process.kill(process.pid, "SIGINT");
      await outside;
      const line = terminal.readInput({ prompt: "> ", initial: "typed" });
      process.kill(process.pid, "SIGINT");
      say(await line);
      terminal.print("last");
      setInterval(() => {}, 1000);
    `);
    await screen.waitFor("working");
    // What was typed before Ctrl-C is not typed any more.
    await screen.type("early\r\u0003");
    await screen.waitFor("working\nworking\n<kind:interrupt,text:typed>\nlast");
    // With no one to tell, it is what it always is.
    await screen.press("C-c");
    expect(await screen.end()).toBe(130);
  });

  it("is given to the shell with Ctrl-Z and comes back with everything on it", async () => {
    verifies("CLI-1");
    const screen = await shell();
    const file = await fileOf(`
      terminal.live(["live"]);
      say(await terminal.readInput({ prompt: "> " }));
      terminal.close();
    `);
    await screen.waitFor("shell:");
    await screen.type(`'${process.execPath}' '${file}'\r`);
    await screen.waitFor(/^live\n>$/m);
    await screen.type("half");
    await screen.waitFor("> half");
    await screen.press("C-z");
    expect(await screen.waitFor(/Stopped[^]*\nshell:$/)).not.toContain("> half");
    await expectGivenBack(screen);
    await screen.type("fg\r");
    await screen.waitFor(/^live\n> half$/m);
    await screen.type(" done\r");
    await screen.waitFor("<kind:text,text:half done>\nshell:");
    await expectGivenBack(screen);
  });

  it("continues where there is no shell to take it with Ctrl-Z", async () => {
    const screen = await run(`
      const setRawMode = stdin.setRawMode.bind(stdin);
      stdin.setRawMode = (isRaw) => {
        if (isRaw) terminal.print("taken back");
        return setRawMode(isRaw);
      };
      say(await terminal.readInput({ prompt: "> " }));
      terminal.close();
    `);
    await screen.waitFor(/^>$/m);
    await screen.type("before\u001a");
    await screen.waitFor("taken back\n> before");
    await screen.type(" after\r");
    await screen.waitFor("<kind:text,text:before after>");
    expect(await screen.end()).toBe(0);
  });

  it("is as it was, without what was live, however the program ends", async () => {
    verifies("CLI-1");
    const screen = await shell();
    for (const [end, shown] of [
      ["terminal.close(); terminal.close();", /^typed\nopen\nshell:$/m],
      ["process.exit(0);", /^typed\nopen\nshell:$/m],
      ['setImmediate(() => { throw new Error("a mistake"); });', /a mistake[^]*\nshell:$/],
      ['process.kill(process.pid, "SIGTERM");', /^open\nTerminated[^]*\nshell:$/m],
      ['process.kill(process.pid, "SIGINT");', /^open\n+shell:$/m],
    ] as const) {
      const file = await fileOf(`
        const { text } = await terminal.readInput({ prompt: "> " });
        terminal.print(text);
        terminal.write("open");
        terminal.live(["live"]);
        ${end}
      `);
      await screen.waitFor(/shell:$/);
      await screen.type(`clear; '${process.execPath}' '${file}'\r`);
      await screen.waitFor(/^>$/m);
      await screen.type("typed\r");
      expect(await screen.waitFor(shown)).not.toMatch(/^live$/m);
      await expectGivenBack(screen);
    }
  });

  it("ends what is read, and notifies the listeners, when it is gone", async () => {
    verifies("CLI-1");
    const told = join(folder, "told");
    const screen = await run(`
      import { appendFileSync } from "node:fs";
      const tell = (text) => appendFileSync(${JSON.stringify(told)}, text + "\\n");
      const line = terminal.readInput({ prompt: "> " });
      terminal.onInterrupt(() => tell("nobody is there"));
      tell((await line).kind);
      terminal.print("into the void");
      tell((await terminal.readKey({ question: "? ", keys: ["y"] })).kind);
      terminal.close();
      tell("closed");
    `);
    await screen.waitFor(/^>$/m);
    await screen.kill();
    await vi.waitFor(() => expect(readFileSync(told, "utf8")).toBe("end\nend\nclosed\n"), {
      timeout: 20_000,
    });
  });
});

describe.skipIf(!canMakeTerminals())("a terminal that can only print (needs python3)", () => {
  it("has lines, questions and Ctrl-C, and no sequence it would not know", async () => {
    verifies("CLI-1", "CLI-6");
    const { code, screen } = await atTerminal(
      [
        process.execPath,
        await fileOf(`
          terminal.write("stre"); terminal.write("amed");
          terminal.live(["live"]);
          say(await terminal.readInput({ prompt: "> ", initial: "a" }));
          say(await terminal.readKey({ question: "[y]es? ", keys: ["y", "n"] }));
          say(await terminal.readInput({ prompt: "> " }));
          const gone = new Promise((resolve) => terminal.onInterrupt(resolve));
          terminal.print("working");
          await gone;
          say(await terminal.readInput({ prompt: "> " }));
          say(await terminal.readInput({ prompt: "> " }));
          terminal.close();
        `),
      ],
      [
        { after: "> a", type: " line\\\n" },
        { after: "\n", type: "and another\n" },
        { after: "[y]es? ", type: "maybe\n" },
        { after: "[y]es? ", type: "Yes\n" },
        { after: "> ", type: "half\u0003" },
        { after: "working", type: "\u0003" },
        { after: "> ", type: "\u0004" },
      ],
      { cwd: folder, env: { PATH: process.env["PATH"] ?? "", TERM: "dumb" } },
    );
    expect(code).toBe(0);
    expect(screen).not.toContain("\u001b");
    expect(screen.replaceAll("\r\n", "\n")).toContain("streamed\n> a line\\\nand another\n");
    for (const typed of [
      "<kind:text,text:a line\\nand another>",
      "<kind:key,key:y>",
      "<kind:interrupt,text:>",
      "<kind:end>\r\n<kind:end>",
    ]) {
      expect(screen).toContain(typed);
    }
  });
});
