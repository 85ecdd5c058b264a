// A terminal as a conversation needs it: text that scrolls up, a few live lines below it, and one thing at a
// time that is read from the keyboard. The only place that knows escape sequences of a screen.

import type { Colours } from "../output/index.ts";
import type { Key } from "./key-decoder.ts";

export interface Terminal {
  readonly columns: number;
  readonly colours: Colours;
  /** A piece of streamed text, as it comes; a line may stay open. Text from outside was made visible before. */
  write(text: string): void;
  /** Whole lines above what is live; ends an open line first. */
  print(text: string): void;
  /** The lines at the bottom, replaced whole; each is cut to the width. None: nothing is live. */
  live(lines: LiveLines): void;
  /** Whether live and pinned lines are seen. */
  readonly hasScreen: boolean;
  /** Lines right above an input that is `pinned`, replaced whole; each is cut to the width. */
  pin(lines: readonly string[]): void;
  /** A line or several, with editing and history. Only one read at a time. */
  readInput(options: ReadInput): Promise<Typed>;
  /** One key of some, shown with a question. The text is printed before it, once. */
  readKey(options: ReadKey): Promise<PressedKey>;
  /** One item of a list. */
  readChoice(options: ReadChoice): Promise<Choice>;
  /**
   * Ctrl-C while nothing is read, or the terminal is gone. While something is read, the read answers with
   * "interrupt" or "end". Without a listener, Ctrl-C ends the process.
   */
  onInterrupt(listener: () => void): () => void;
  /** A key that acts at any time, also while something is typed or asked; a list to choose from takes them itself. Never without a screen. */
  onShortcut(listener: (key: Shortcut) => void): () => void;
  /** Gives the terminal back as it was. May be called twice. */
  close(): void;
}

/** Made when they are drawn, and again when the width has changed, where making them takes time. */
export type LiveLines = readonly string[] | (() => readonly string[]);

/** Ctrl-O, Alt-M, Shift-Tab. Esc is for what is read. */
export type Shortcut = (typeof SHORTCUTS)[number];
export const SHORTCUTS = ["show_output", "show_raw", "next_mode"] as const;

export interface ReadInput {
  readonly prompt: string;
  /** Oldest first; the caller keeps it. */
  readonly history?: readonly string[];
  readonly initial?: string;
  /** Candidates for the word at the cursor (Tab): each replaces `word`. `line`: up to the cursor. */
  complete?(word: string, line: string): Promise<readonly string[]>;
  /** Keys with a meaning of their own here: each answers with another text for the line, or leaves the key to the editor. */
  readonly keys?: Partial<Record<Key["kind"], (text: string) => string | undefined>>;
  /** What a paste puts into the line. */
  paste?(text: string): string;
  /** Whether what is sent stays on the screen. Default: it does. */
  isEchoed?(text: string): boolean;
  /** Shown below the pinned lines. */
  readonly pinned?: boolean;
  readonly signal?: AbortSignal;
}

export type Typed =
  | { readonly kind: "text"; readonly text: string }
  /** Ctrl-C; `text`: what had been typed, which is dropped from the screen. */
  | { readonly kind: "interrupt"; readonly text: string }
  /** Esc, where `keys` gives it no meaning; `text` as above. */
  | { readonly kind: "escape"; readonly text: string }
  /** Ctrl-D on an empty line, or the terminal is gone. */
  | { readonly kind: "end" }
  /** By the signal; `text` as above, to be the `initial` of the next read. */
  | { readonly kind: "aborted"; readonly text: string };

export interface ReadKey {
  readonly question: string;
  /** Single characters, lower-case; what is typed is folded. */
  readonly keys: readonly string[];
  readonly signal?: AbortSignal;
}

export type PressedKey =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "interrupt" }
  | { readonly kind: "escape" }
  | { readonly kind: "end" }
  | { readonly kind: "aborted" };

export interface ReadChoice {
  readonly title: string;
  readonly items: readonly ChoiceItem[];
  readonly signal?: AbortSignal | undefined;
}

export interface ChoiceItem {
  /** Text from outside may be in both: it is made visible. */
  readonly label: string;
  readonly hint?: string;
}

export type Choice =
  | { readonly kind: "chosen"; readonly index: number }
  /** Esc, or Ctrl-D where nothing is typed. */
  | { readonly kind: "cancelled" }
  | { readonly kind: "interrupt" }
  | { readonly kind: "end" }
  | { readonly kind: "aborted" };

export interface TerminalStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Stoppable {
  stop(why: "interrupt" | "end" | "aborted"): void;
}

interface Ended {
  readonly kind: "end";
}

/**
 * One read at a time, and what ends it from outside: Ctrl-C, the end of the terminal, the caller's signal. Without a read,
 * listeners are called. `unheard`: Ctrl-C without any.
 */
export function createOneRead<Read extends Stoppable>(unheard: () => void) {
  const listeners = new Set<() => void>();
  let current: Read | undefined;
  let isOver = false;

  return {
    get current(): Read | undefined {
      return current;
    },
    /** Once the terminal is gone, every read has ended. */
    async begin<Answer>(
      signal: AbortSignal | undefined,
      aborted: Answer,
      start: (done: (answer: Answer | Ended) => void) => Read,
    ): Promise<Answer | Ended> {
      if (current !== undefined)
        throw new Error("Something is being read from the terminal already");
      if (isOver) return { kind: "end" };
      if (signal?.aborted === true) return aborted;
      const abort = (): void => current?.stop("aborted");
      signal?.addEventListener("abort", abort);
      try {
        return await new Promise<Answer | Ended>((resolve) => {
          current = start((answer) => {
            current = undefined;
            resolve(answer);
          });
        });
      } finally {
        signal?.removeEventListener("abort", abort);
      }
    },
    interrupted(): void {
      if (current !== undefined) current.stop("interrupt");
      else if (listeners.size === 0) unheard();
      else for (const listener of listeners) listener();
    },
    /** The terminal is gone: what is read ends, and so does all that is read later. */
    lost(): void {
      if (isOver) return;
      isOver = true;
      if (current !== undefined) current.stop("end");
      // What is under way has lost its user.
      else for (const listener of listeners) listener();
    },
    /** The same, without calling listeners. */
    close(): void {
      isOver = true;
      current?.stop("end");
    },
    onInterrupt(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
