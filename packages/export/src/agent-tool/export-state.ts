// What an export keeps between facts: declared tools, open runs, open calls.

import type { Fact } from "@soong/core";
import { invocationId } from "../projection/invocation-id.ts";
import { DeclaredTools } from "./declare-tools.ts";
import { OpenCall, writeInvocation } from "./open-call.ts";
import { OpenRun } from "./open-run.ts";
import { readCount, readText, readValue, type Unchecked } from "../projection/read-fields.ts";
import { RecentCalls } from "./recent-calls.ts";
import { RecordWriter, type EventSubject } from "./record-writer.ts";

export class ExportState {
  readonly writer = new RecordWriter();
  readonly tools = new DeclaredTools();
  /** Whether arguments, results and messages about them are exported. */
  readonly hasContent: boolean;
  readonly #recent = new RecentCalls();
  readonly #runs = new Map<string, OpenRun>();
  readonly #calls = new Map<string, OpenCall>();

  constructor(hasContent: boolean) {
    this.hasContent = hasContent;
  }

  /** Of a run whose start is not in the journal there are no settings. */
  findRun({ run_id, session_id }: Fact): OpenRun {
    const id = readText(run_id);
    let run = this.#runs.get(id ?? "");
    if (run === undefined) {
      run = new OpenRun(id, readText(session_id));
      this.#runs.set(id ?? "", run);
    }
    return run;
  }

  endRun(fact: Fact): void {
    const run = this.#runs.get(readText(fact.run_id) ?? "");
    if (run === undefined) return;
    run.ended = true;
    // A run does not wait for its calls.
    this.#forgetRun(run);
  }

  /** The call of a fact that an open call may have, and no other. */
  findCall(fact: Fact): OpenCall | undefined {
    const id = invocationId(fact);
    return id === undefined ? undefined : this.#calls.get(id);
  }

  /** A call that has ended not long ago. */
  findEnded(fact: Fact): EventSubject | undefined {
    const id = invocationId(fact);
    const tool_id = id && this.#recent.findTool(id);
    return id && tool_id ? { subject: id, invocation_id: id, tool_id } : undefined;
  }

  /** The same as `findCall`; a call whose request is not in the journal begins here. */
  reachCall(fact: Fact): OpenCall | undefined {
    return this.findCall(fact) ?? this.openCall(fact, {});
  }

  /** Undefined: the fact is of no call, or of one that has ended. */
  openCall(fact: Fact, data: Unchecked<"tool.requested">): OpenCall | undefined {
    const id = invocationId(fact);
    if (id === undefined || this.#calls.has(id) || this.#recent.has(id)) return undefined;
    const { writer } = this;
    const run = this.findRun(fact);
    const tool = this.#findTool(run, readText(fact.tool_name) ?? "");
    const call = new OpenCall(id, tool, run, readText(fact.agent_id), writer.time);
    this.#calls.set(id, call);
    run.openCalls += 1;
    this.#describeRequest(call, fact, data);
    call.change("planned", writer.time);
    if (tool.isKnown) call.change("selected", writer.time);
    writeInvocation(call, writer);
    writer.addEvent("tool.invocation.planned", call);
    if (tool.isKnown) writer.addEvent("tool.invocation.selected", call);
    return call;
  }

  closeCall(call: OpenCall): void {
    this.#calls.delete(call.invocation_id);
    this.#recent.add(call.invocation_id, call.tool_id);
    call.run.openCalls -= 1;
    this.#forgetRun(call.run);
  }

  listOpenCalls(): readonly OpenCall[] {
    return [...this.#calls.values()];
  }

  /** Text about arguments or results, where the export has them. */
  readContent(value: unknown): string | undefined {
    return this.hasContent ? readText(value) : undefined;
  }

  #describeRequest(call: OpenCall, fact: Fact, data: Unchecked<"tool.requested">): void {
    const { run } = call;
    const revision = readCount(data.surface_revision);
    if (revision !== undefined && run.revisions.has(revision)) {
      call.surfaceId = run.nameSurface(revision);
    }
    const within = readText(data.within_tool_call_id);
    call.parentId = within && invocationId({ run_id: fact.run_id, tool_call_id: within });
    const isOfModel = within === undefined && data.made_by === undefined;
    const own = isOfModel ? readText(fact.tool_call_id) : undefined;
    // On record only where it differs from the id of the call.
    call.nativeCallId = readText(data.native_call_id) ?? own;
    call.nativeName = readText(data.native_name);
    if (this.hasContent) call.modelInput = readValue(data.model_input);
    call.modelInputChars = readCount(data.model_input_chars);
  }

  #findTool(
    { surface, settings }: OpenRun,
    tool_name: string,
  ): { readonly tool_id: string; readonly tool_name: string; readonly isKnown: boolean } {
    if (tool_name !== "" && surface === undefined) {
      this.tools.declareUnseen(tool_name, settings, this.writer);
    }
    const isKnown = surface === undefined ? tool_name !== "" : surface.has(tool_name);
    return { tool_id: isKnown ? tool_name : `unknown:${tool_name}`, tool_name, isKnown };
  }

  #forgetRun(run: OpenRun): void {
    // Of a run of which only calls were seen, no end may come.
    const isUnseen = run.schedulerPolicyId === undefined && run.surface === undefined;
    if ((run.ended || isUnseen) && run.openCalls === 0) this.#runs.delete(run.key);
  }
}
