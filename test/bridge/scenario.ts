// What a case of the bridges asks of a loop, in terms that fit each of them, and what was seen. A driver plays a scenario on
// one peer: bare, as its own documentation shows, or with the bridge.

import type { AnyHook, ConfigInput, Fact, JsonObject, KnownSecret, PolicyInput } from "@soong/core";

/** One answer of the scripted model. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Between two calls of a streamed answer; only for the benchmark. */
  readonly pauseMs?: number;
  /** A streamed answer ends after its calls, without the end that the format requires. */
  readonly breaksOff?: boolean;
}

export interface ScriptedCall {
  readonly id: string;
  /** The wire name with the bridge, `notes__read`; the driver passes the bare peer what it takes as a name: the same. */
  readonly name: string;
  /** As the model sends them: may be no JSON. */
  readonly arguments: string;
}

export interface ScenarioTool {
  /** Canonical, `notes.read`; its wire name is `notes__read`. */
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
  /** `read` may run in parallel; `write` asks unless the policy allows it. Bare, a write asks if the scenario has an approver. */
  readonly effect: "read" | "write";
  readonly defer?: boolean;
  readonly timeoutMs?: number;
  readonly run: (input: JsonObject, context: ToolRunContext) => Promise<unknown>;
}

export interface ToolRunContext {
  /** Aborted with the loop, where the peer passes a signal. */
  readonly signal: AbortSignal;
  /** Reports progress, where the peer has a way to. */
  readonly progress: (message: string) => void;
}

export interface Scenario {
  readonly tools: readonly ScenarioTool[];
  readonly answers: readonly ScriptedAnswer[];
  readonly policy?: PolicyInput;
  readonly config?: ConfigInput;
  readonly hooks?: readonly AnyHook[];
  readonly secrets?: readonly KnownSecret[];
  /**
   * Who approves: no one, a callback in the process, or the host's own pause and resume. Default: `none`. A bare peer that has
   * one way only uses that for both.
   */
  readonly approval?: "none" | "ask" | "host";
  /** What the user says, by canonical name. Default: no. */
  readonly approve?: readonly string[];
  /** The loop is aborted as soon as this is in the log. */
  readonly abortAt?: string;
  /** Between pause and resume the host's state is written out and read again, and everything of the loop is made anew. */
  readonly restart?: boolean;
  /** Default: not streamed. */
  readonly stream?: boolean;
}

export interface Observation {
  /** What the tools did, in order: whatever `log` was called with. */
  readonly log: readonly string[];
  /** What the model was sent, request by request. */
  readonly requests: readonly SeenRequest[];
  /** How the loop ended. */
  readonly end: "completed" | "aborted" | "failed";
  readonly error?: string;
  /** Canonical names of what a user was asked about, in order. */
  readonly asked: readonly string[];
  readonly progress: readonly string[];
  /** With the bridge: everything on record. */
  readonly facts: readonly Fact[];
}

export interface SeenRequest {
  /** Wire names. */
  readonly tools: readonly string[];
  /** All tool results in it, by the id of their call. An image is `[image]` in the text. */
  readonly results: readonly {
    readonly id: string;
    readonly text: string;
    /** Where the format has a flag for it. */
    readonly is_error?: boolean;
  }[];
  /** Ids of the calls that the conversation in it contains. */
  readonly calls: readonly string[];
}

export interface Play {
  readonly scenario: Scenario;
  readonly mode: "bare" | "bridge";
  /** The base url of the scripted model, without a path. */
  readonly url: string;
  /** Writes to the log. The tools of the cases do so themselves; a driver need not. */
  readonly log: (entry: string) => void;
  /** Fires when the log has the entry of `abortAt`: the driver aborts its loop with it. Never fires otherwise. */
  readonly signal: AbortSignal;
}

/** What a driver reports; the log and the requests are seen by the harness. */
export type Played = Omit<Observation, "log" | "requests">;

export interface Driver {
  /** The peer as a user would name it, with its version. */
  readonly peer: string;
  /** What the peer puts before the names of tools for its model, `mcp__soong__`: the scripted model does so, too. */
  readonly namePrefix?: string;
  /** Cases that mean nothing on this peer, by id, with the reason. */
  readonly without?: Readonly<Record<string, string>>;
  /** Cases that do not hold with the bridge either, by id, with the reason: the docs list them. */
  readonly limits?: Readonly<Record<string, string>>;
  play(play: Play): Promise<Played>;
}
