// One answer of the model: its calls are one turn of the kernel, pushed as they come. Nothing that writes starts before the
// answer is complete, and nothing of an answer that the SDK throws away (SCHED-6).

import type { ModelTools } from "@soong/core";
import { isRecord } from "@soong/schema";
import {
  packArguments,
  resolveName,
  type BridgedTurn,
  type BridgeRun,
  type Gate,
  type HostApprovals,
  type ListedTool,
  type PushedCall,
} from "../kernel/index.ts";
import type { SeenCalls } from "./calls.ts";
import { FollowedCall } from "./followed-call.ts";
import type { AnswerPart, ModelRequest } from "./peer-types.ts";
import type { ProgressFeed } from "./progress-feed.ts";

export interface AnswerParts {
  readonly run: BridgeRun;
  readonly gate: Gate;
  readonly approvals: HostApprovals | undefined;
  readonly calls: SeenCalls;
  readonly feed: ProgressFeed;
  /** The tools that the SDK has from us, by their wire names. */
  readonly tools: ReadonlyMap<string, ListedTool>;
  /** Calls that the host's user refused, as far as they are on record. */
  readonly denied: Set<string>;
}

export class ModelAnswer {
  readonly #parts: AnswerParts;
  readonly #request: ModelRequest;
  readonly #wire: ModelTools["names"];
  /** What the SDK accepts a call of. */
  readonly #offered: ReadonlySet<string>;
  readonly #ids = new Set<string>();
  /** Of the piece of an input that is under way: the id that the model used before, and the new one. */
  readonly #renamed = new Map<string, string>();
  #turn: BridgedTurn | undefined;
  #isChosen: boolean;
  #isOver = false;

  constructor(parts: AnswerParts, request: ModelRequest, { names }: ModelTools) {
    this.#parts = parts;
    this.#request = request;
    this.#wire = names;
    this.#offered = new Set(request.tools?.map(({ name }) => name));
    this.#isChosen = request.toolChoice?.type !== "tool";
  }

  /** The part as the SDK should get it. */
  read(part: AnswerPart): AnswerPart | Promise<AnswerPart> {
    switch (part.type) {
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-end":
        return this.#readInput(part);
      case "tool-call":
        return this.#isLeft(part) ? part : this.#readCall(part);
      case "finish":
        this.finish(part.finishReason);
        return part;
      default:
        return part;
    }
  }

  /** The SDK executes tools after these reasons only. */
  finish(finishReason: unknown): void {
    const reason = readReason(finishReason);
    if (reason !== "stop" && reason !== "tool-calls") this.drop(`the answer ended: ${reason}`);
    // The SDK throws such an answer away.
    else if (!this.#isChosen) this.drop("it lacks the call that was required");
    else this.#end();
  }

  /** The SDK does not execute this answer. */
  drop(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#parts.calls.forget(this.#ids);
    void this.#turn?.discard(reason);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#turn?.end();
  }

  /** Calls that are no business of the kernel: the provider's, the user's own, and those that the SDK will reject. */
  #isLeft({ toolName = "", providerExecuted }: AnswerPart): boolean {
    if (providerExecuted === true || this.#request.toolChoice?.type === "none") return true;
    return this.#offered.has(toolName) && !this.#parts.tools.has(toolName);
  }

  #readInput(part: AnswerPart): AnswerPart {
    const { id = "", toolName = "" } = part;
    if (part.type === "tool-input-start" && this.#parts.tools.has(toolName)) {
      this.#renamed.set(id, this.#parts.calls.chooseId(id, this.#ids));
    }
    const renamed = this.#renamed.get(id);
    return renamed === undefined ? part : { ...part, id: renamed };
  }

  #readCall(part: AnswerPart): AnswerPart | Promise<AnswerPart> {
    const { calls, approvals, run } = this.#parts;
    const { toolCallId: native = "", toolName: given = "", input } = part;
    const canonical = resolveName(run, this.#wire, given);
    const toolName = this.#findOffered(given, canonical);
    const isOffered = this.#offered.has(toolName);
    this.#isChosen ||= toolName === this.#request.toolChoice?.toolName;
    // Not offered, although the kernel would execute it: this was reported to the SDK, which answers it.
    if (!isOffered && run.surface.standing.get(canonical ?? "")?.state === "loaded") return part;
    const toolCallId = this.#renamed.get(native) ?? calls.chooseId(native, this.#ids);
    this.#renamed.delete(native);
    this.#ids.add(toolCallId);
    const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
    const call: CallOfModel = {
      id: toolCallId,
      name: given,
      arguments: text.trim() === "" ? "{}" : text,
    };
    if (!isOffered) {
      calls.refuse(toolCallId, this.#push(call).outcome);
      return { ...part, toolCallId };
    }
    // The SDK would not execute what it cannot parse, and its message says less than the kernel's.
    const passed = { ...part, toolCallId, toolName, input: packArguments(call.arguments) };
    if (approvals === undefined) {
      this.#start(call);
      return passed;
    }
    return approvals
      .needsApproval(run, call)
      .catch(() => false)
      .then((isNeeded) => {
        if (isNeeded) calls.pause(toolCallId);
        else this.#start(call);
        return passed;
      });
  }

  #start(call: CallOfModel): void {
    const { feed, calls } = this.#parts;
    calls.start(call.id, {
      call: new FollowedCall(feed, this.#push(call)),
      confirm: (signal) => {
        this.#end();
        this.#turn?.abortOn(signal);
      },
    });
  }

  #push(call: CallOfModel): PushedCall {
    this.#turn ??= this.#parts.gate.openTurn();
    return this.#turn.push(call, { signal: this.#request.abortSignal });
  }

  /** A model may use the canonical name or an alias: the SDK knows the wire name only. */
  #findOffered(given: string, canonical: string | undefined): string {
    if (canonical === undefined || this.#offered.has(given)) return given;
    const wire = this.#wire.toWire(canonical);
    return this.#offered.has(wire) ? wire : given;
  }
}

interface CallOfModel {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A text before specification v3. */
function readReason(finishReason: unknown): string {
  const reason = isRecord(finishReason) ? finishReason["unified"] : finishReason;
  return typeof reason === "string" ? reason : "without a reason";
}
