// The user at a terminal that has no screen: what is shown is text, what is typed comes at once. For conversations
// whose order has to be exact; how it looks is seen at a real terminal.

import { setImmediate as soon } from "node:timers/promises";
import { coloursFor } from "../../packages/cli/src/output/index.ts";
import type {
  Choice,
  PressedKey,
  ReadChoice,
  ReadInput,
  ReadKey,
  Shortcut,
  Terminal,
  Typed,
} from "../../packages/cli/src/terminal/terminal.ts";

export interface Person {
  readonly terminal: Terminal;
  /** Everything that was printed or written, in order. */
  shown(): string;
  /** What is live now. */
  live(): readonly string[];
  /** What is pinned above the line now. */
  pinned(): readonly string[];
  /** The line that is read now, once there is one. */
  line(): Promise<ReadInput>;
  /** Waits for a line to be read, and ends it with this. */
  type(text: string): Promise<void>;
  /** What is in the line without being sent. */
  draft(text: string): void;
  interruptLine(text?: string): Promise<void>;
  endLine(): Promise<void>;
  /** Waits for a question that takes this key. */
  press(key: string): Promise<ReadKey>;
  interruptQuestion(): Promise<void>;
  /** Waits for a list, and picks the first item with this in its label; without one, Esc. */
  choose(label?: string): Promise<ReadChoice>;
  shortcut(key: Shortcut): void;
  /** Ctrl-C while nothing is read. */
  interrupt(): void;
  /** Once this was shown, after what was waited for before. */
  until(text: string): Promise<void>;
  /** Once this is live: what streams, until a line of it is finished. */
  untilLive(text: string): Promise<unknown>;
}

export function createPerson(): Person {
  let shown = "";
  let seen = 0;
  let live: readonly string[] = [];
  let pinned: readonly string[] = [];
  let drafted = "";
  let reading: { options: ReadInput; end(typed: Typed): void } | undefined;
  let asking: { options: ReadKey; end(pressed: PressedKey): void } | undefined;
  let choosing: { options: ReadChoice; end(choice: Choice): void } | undefined;
  const interrupts = new Set<() => void>();
  const shortcuts = new Set<(key: Shortcut) => void>();

  const terminal: Terminal = {
    columns: 80,
    colours: coloursFor({}, {}),
    write: (text) => {
      shown += text;
    },
    print: (text) => {
      shown += `${shown.endsWith("\n") || shown === "" ? "" : "\n"}${text}\n`;
    },
    live: (lines) => {
      live = typeof lines === "function" ? lines() : lines;
    },
    hasScreen: false,
    pin: (lines) => {
      pinned = lines;
    },
    readInput: (options) =>
      new Promise((resolve, reject) => {
        if (isReading()) reject(new Error("two reads at once"));
        const end = (typed: Typed): void => {
          reading = undefined;
          resolve(typed);
        };
        reading = { options, end };
        options.signal?.addEventListener("abort", () => {
          if (reading?.end !== end) return;
          const text = (options.initial ?? "") + drafted;
          drafted = "";
          end({ kind: "aborted", text });
        });
      }),
    readKey: (options) =>
      new Promise((resolve, reject) => {
        if (isReading()) reject(new Error("two reads at once"));
        const end = (pressed: PressedKey): void => {
          asking = undefined;
          resolve(pressed);
        };
        asking = { options, end };
        options.signal?.addEventListener("abort", () => {
          if (asking?.end === end) end({ kind: "aborted" });
        });
      }),
    readChoice: (options) =>
      new Promise((resolve, reject) => {
        if (isReading()) reject(new Error("two reads at once"));
        const end = (choice: Choice): void => {
          choosing = undefined;
          resolve(choice);
        };
        choosing = { options, end };
        options.signal?.addEventListener("abort", () => {
          if (choosing?.end === end) end({ kind: "aborted" });
        });
      }),
    onInterrupt(listener) {
      interrupts.add(listener);
      return () => interrupts.delete(listener);
    },
    onShortcut(listener) {
      shortcuts.add(listener);
      return () => shortcuts.delete(listener);
    },
    close: () => {},
  };

  return {
    terminal,
    shown: () => shown,
    live: () => live,
    pinned: () => pinned,
    line: async () => (await readingNow()).options,
    type: async (text) => (await readingNow()).end({ kind: "text", text }),
    draft: (text) => {
      drafted = text;
    },
    interruptLine: async (text = "") => (await readingNow()).end({ kind: "interrupt", text }),
    endLine: async () => (await readingNow()).end({ kind: "end" }),
    async press(key) {
      const asked = await askingNow();
      const { options } = asked;
      if (!options.keys.includes(key)) throw new Error(`${key} is none of ${options.keys.join()}`);
      asked.end({ kind: "key", key });
      return options;
    },
    async choose(label) {
      const asked = await found("a list", () => choosing);
      const { options } = asked;
      const index = options.items.findIndex((item) => item.label.includes(label ?? "\0"));
      if (label !== undefined && index < 0) throw new Error(`No item has ${label} in its label`);
      asked.end(index < 0 ? { kind: "cancelled" } : { kind: "chosen", index });
      return options;
    },
    interruptQuestion: async () => (await askingNow()).end({ kind: "interrupt" }),
    shortcut: (key) => {
      for (const listener of shortcuts) listener(key);
    },
    interrupt: () => {
      for (const listener of interrupts) listener();
    },
    untilLive: (text) =>
      found(`"${text}"`, () => (live.join("\n").includes(text) ? true : undefined)),
    async until(text) {
      const at = await found(`"${text}"`, () => {
        const place = shown.indexOf(text, seen);
        return place === -1 ? undefined : place;
      });
      seen = at + text.length;
    },
  };

  function isReading(): boolean {
    return reading !== undefined || asking !== undefined || choosing !== undefined;
  }

  function readingNow() {
    return found("a line", () => reading);
  }

  function askingNow() {
    return found("a question", () => asking);
  }

  async function found<T>(what: string, look: () => T | undefined): Promise<T> {
    const deadline = Date.now() + LONGEST_MS;
    for (;;) {
      const value = look();
      if (value !== undefined) return value;
      if (Date.now() > deadline) throw new Error(`No sight of ${what}. Shown:\n${shown}`);
      await soon();
    }
  }
}

const LONGEST_MS = 20_000;
