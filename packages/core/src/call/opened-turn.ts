// A turn as its owner sees it. What changes is read through getters of the class: getters of an object literal
// would make V8 a hidden class for every turn, which keeps all of the turn alive until a full collection.

import type { ConversationNode } from "../journal/index.ts";
import type { ToolResult } from "../tool/index.ts";
import type { ToolCall } from "./call.ts";

export interface Turn {
  /** Takes a call whose arguments are complete; returns the id its result will have. */
  push(call: ToolCall): string;
  /** The stream that brought the calls has ended well: what waited for that may start. */
  end(): void;
  /** The attempt is abandoned: whatever has not ended for good ends as discarded (SCHED-6). */
  discard(reason: string): Promise<ToolResult[]>;
  abort(reason: string): Promise<ToolResult[]>;
  /** New input came in: cancellable calls end, the others finish, nothing more starts. */
  interrupt(reason: string): void;
  /** Each result as soon as it and all before it are there. Ends when the turn has ended. */
  results(): AsyncIterableIterator<ToolResult>;
  /** All results, in call order, once every call has one and the stream has ended. */
  settled(): Promise<ToolResult[]>;
  /** Set when a hook asked for the run to end. */
  readonly stopped: { readonly reason: string; readonly hook: string } | undefined;
  readonly aborted: boolean;
  /** The node the next message hangs from. */
  readonly lastNodeId: string | undefined;
  /**
   * What this turn has added to the conversation so far, in the order of the path: results in call order,
   * each with what it brought along.
   */
  readonly nodes: readonly ConversationNode[];
}

type Acts = Pick<Turn, "push" | "end" | "discard" | "abort" | "interrupt" | "results" | "settled">;

/** What can be seen of it at the moment. */
type Sights = { readonly [Name in Exclude<keyof Turn, keyof Acts>]: () => Turn[Name] };

export class OpenedTurn implements Turn {
  readonly push: Turn["push"];
  readonly end: Turn["end"];
  readonly discard: Turn["discard"];
  readonly abort: Turn["abort"];
  readonly interrupt: Turn["interrupt"];
  readonly results: Turn["results"];
  readonly settled: Turn["settled"];
  readonly #sights: Sights;

  constructor(acts: Acts, sights: Sights) {
    this.push = acts.push;
    this.end = acts.end;
    this.discard = acts.discard;
    this.abort = acts.abort;
    this.interrupt = acts.interrupt;
    this.results = acts.results;
    this.settled = acts.settled;
    this.#sights = sights;
  }

  get stopped(): Turn["stopped"] {
    return this.#sights.stopped();
  }
  get aborted(): boolean {
    return this.#sights.aborted();
  }
  get lastNodeId(): string | undefined {
    return this.#sights.lastNodeId();
  }
  get nodes(): Turn["nodes"] {
    return this.#sights.nodes();
  }
}
