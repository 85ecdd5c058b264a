// What a command of the conversation is, and what it works with.

import type { UsageTotal } from "@soong/agent";
import type { Mode } from "@soong/core";
import type { Terminal } from "../terminal/terminal.ts";
import type { Keyboard } from "./keyboard.ts";
import type { OwnCommands } from "./own-commands.ts";
import type { ShownResults } from "./shown-results.ts";
import type { Talk } from "./talk.ts";

export interface SlashHost {
  readonly terminal: Terminal;
  readonly keyboard: Keyboard;
  readonly talk: Talk;
  readonly project: string;
  readonly isRunning: boolean;
  /** The last change of a file that was shown, whole. */
  readonly lastDiff: string | undefined;
  readonly results: ShownResults;
  readonly own: SharedCommands;
  /** The conversation is being left. */
  readonly left: AbortSignal;
}

/** What needs parts of the program that this module does not know. Text is ready for the screen. */
export interface SharedCommands {
  /** Of the config and the environment. */
  models(): Promise<readonly string[]>;
  tools(query: string, mode: Mode): Promise<string>;
  servers(): Promise<string>;
  agents(): Promise<string>;
  memories(): Promise<string>;
  /** The rules that count; with a call, what is decided about it: `TOOL {"path": "a.txt"}`. */
  permissions(call: string, mode: Mode): Promise<string>;
  sessions(): Promise<string>;
  /** Sessions of this project in which something was said, newest first. */
  resumable(): Promise<readonly StoredTalk[]>;
  /** The one session that is meant by an id or its beginning. Throws a sentence. */
  findSession(given: string): Promise<string>;
  usedBefore(session_id: string): Promise<UsageTotal>;
  /** A session as Markdown, whole. */
  transcript(session_id: string): Promise<string>;
  /** The last change of a session, ready to be taken back. Throws a sentence where there is none. */
  lastChange(session_id: string): Promise<UndoPrompt>;
  /** `commands/*.md` of the home. */
  ownCommands(): Promise<OwnCommands>;
  /** Keeps a note of the user's for this project; answers with what was done. */
  remember(text: string): Promise<string>;
  /** What the runs of a session propose to remember, and no one has decided about. */
  proposedMemories(session_id: string): Promise<readonly ProposedMemory[]>;
}

export interface StoredTalk {
  readonly session_id: string;
  readonly title: string;
  readonly hint: string;
}

export interface ProposedMemory {
  readonly text: string;
  /** Answers with what was done. */
  accept(): Promise<string>;
  discard(): Promise<void>;
}

export interface UndoPrompt {
  readonly question: string;
  /** From the file as it is to the file as it was. */
  readonly diff: string | undefined;
  /** Answers with what was done. */
  revert(): Promise<string>;
}

/** `send`: the prompt that the command sends. `compact`: a run that only sums up. `continue`: one that was cut off. */
export type SlashEnd =
  | "stay"
  | "quit"
  | "not_now"
  | "compact"
  | "continue"
  | { readonly send: string }
  /** Into the line, to be changed and sent. */
  | { readonly draft: string };

export interface SlashCommand {
  readonly usage: string;
  readonly says: string;
  /** Changes what a turn works with. */
  readonly waits?: true;
  run(host: SlashHost, rest: string): Promise<SlashEnd | void> | SlashEnd | void;
}

export type SlashCommands = Readonly<Record<string, SlashCommand>>;
