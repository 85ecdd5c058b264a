// A terminal that can move its cursor: keys come in, the screen goes out, and between them is the one read
// that is open, if any.

import { coloursFor } from "../output/index.ts";
import { holdTerminal } from "./held-terminal.ts";
import { createKeyDecoder, type Key } from "./key-decoder.ts";
import { openPlainTerminal } from "./plain-terminal.ts";
import { readChoice } from "./read-choice.ts";
import { createStrayKeys, readLine, readOneKey, type Read } from "./reads.ts";
import { createScreen } from "./screen.ts";
import {
  createOneRead,
  SHORTCUTS,
  type Choice,
  type PressedKey,
  type Shortcut,
  type Terminal,
  type TerminalStreams,
  type Typed,
} from "./terminal.ts";

/** One with a screen, or one that only prints. */
export function openTerminal(streams: TerminalStreams): Terminal {
  const { stdin, stdout, env } = streams;
  const hasScreen = stdin.isTTY && stdout.isTTY && env["TERM"] !== "dumb";
  return hasScreen ? openScreenTerminal(streams) : openPlainTerminal(streams);
}

function openScreenTerminal({ stdin, stdout, env }: TerminalStreams): Terminal {
  const decoder = createKeyDecoder();
  const strayKeys = createStrayKeys();
  const pace = createFramePace();
  const oneRead = createOneRead<Read>(() => held.endBy("SIGINT"));
  const shortcutListeners = new Set<(key: Shortcut) => void>();
  let isClosed = false;
  let isWritable = true;
  let givingUp: NodeJS.Timeout | undefined;

  const screen = createScreen({
    put,
    size,
    reflows: reflows(env),
    soon: (draw) => pace.soon(draw),
  });
  const held = holdTerminal({
    stdin,
    put,
    interrupted,
    hungUp,
    lent: screen.hide,
    returned: screen.show,
    leaving: close,
  });
  const colours = coloursFor(stdout, env);
  const readable = { screen, strayKeys, columns: () => size().columns };
  // Stays: what a terminal that is gone has to say may come after the last word.
  stdout.on("error", () => {
    isWritable = false;
    oneRead.lost();
  });
  stdout.on("resize", screen.resized);
  stdin.on("data", received).on("end", hungUp).on("error", hungUp).on("close", hungUp);
  stdin.resume();

  return {
    get columns() {
      return size().columns;
    },
    colours,
    write: screen.write,
    print: screen.print,
    live: screen.live,
    hasScreen: true,
    pin: screen.pin,
    readInput(options) {
      const { signal, initial = "" } = options;
      const typed = oneRead.begin<Typed>(signal, { kind: "aborted", text: initial }, (done) =>
        readLine(readable, options, done),
      );
      strayKeys.take().forEach(press);
      return typed;
    },
    readKey: (options) =>
      oneRead.begin<PressedKey>(options.signal, { kind: "aborted" }, (done) =>
        readOneKey(readable, options, done),
      ),
    readChoice: (options) =>
      oneRead.begin<Choice>(options.signal, { kind: "aborted" }, (done) =>
        readChoice({ ...readable, rows: () => size().rows, colours }, options, done),
      ),
    onInterrupt: (listener) => oneRead.onInterrupt(listener),
    onShortcut(listener) {
      shortcutListeners.add(listener);
      return () => void shortcutListeners.delete(listener);
    },
    close,
  };

  function received(bytes: Buffer): void {
    clearTimeout(givingUp);
    decoder.push(bytes).forEach(press);
    if (decoder.isWaiting) {
      givingUp = setTimeout(() => decoder.giveUp().forEach(press), NOTHING_FOLLOWS_MS);
    }
  }

  function press(key: Key): void {
    const shortcut = SHORTCUTS.find((one) => one === key.kind);
    if (shortcut !== undefined && oneRead.current?.takesShortcuts !== true) {
      for (const listener of shortcutListeners) listener(shortcut);
    } else if (key.kind === "interrupt") interrupted();
    else if (key.kind === "suspend") held.suspend();
    else if (key.kind === "clear_screen") screen.clear();
    else if (oneRead.current !== undefined) oneRead.current.press(key);
    // Ctrl-D is meant for what is on the screen now, and that is no line.
    else if (key.kind !== "end_of_input") strayKeys.add(key);
  }

  function interrupted(): void {
    strayKeys.forget();
    oneRead.interrupted();
  }

  function hungUp(): void {
    oneRead.lost();
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(givingUp);
    pace.stop();
    oneRead.close();
    screen.close();
    held.letGo();
    stdout.off("resize", screen.resized);
    stdin.off("data", received).off("end", hungUp).off("close", hungUp).pause();
  }

  function put(text: string): void {
    if (text !== "" && isWritable) stdout.write(text);
  }

  /** A terminal that does not know its size says 0. */
  function size(): { columns: number; rows: number } {
    const { columns, rows } = stdout;
    return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
  }
}

/** Whether a terminal wraps its lines anew when it gets narrower; the few that do not are known by name. */
function reflows({ TERM = "", TMUX, STY, XTERM_VERSION }: TerminalStreams["env"]): boolean {
  if (TMUX !== undefined) return true;
  return STY === undefined && XTERM_VERSION === undefined && TERM !== "linux";
}

/** Behind an ESC, before it is taken for the key. */
const NOTHING_FOLLOWS_MS = 50;

/** How often a screen is drawn: at once when it has rested, and no more often than a user could see. */
function createFramePace() {
  let lastAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | undefined;
  return {
    /** Once for all that happens until then. */
    soon(draw: () => void): void {
      if (cancel !== undefined) return;
      const run = (): void => {
        cancel = undefined;
        lastAt = performance.now();
        draw();
      };
      const wait = lastAt + FRAME_MS - performance.now();
      if (wait > 0) {
        const timer = setTimeout(run, wait);
        cancel = () => clearTimeout(timer);
      } else {
        const immediate = setImmediate(run);
        cancel = () => clearImmediate(immediate);
      }
    },
    stop(): void {
      cancel?.();
      cancel = undefined;
    },
  };
}

const FRAME_MS = 16;
