// The progress of a child that its caller's user interface shows (AGENT-5): its text and its calls, as progress of the call that
// started it, with who it is.

import type { ArtifactRef, Fact, ToolContext, ToolResult } from "@soong/core";
import type { LoopEvent, LoopRun } from "../loop/index.ts";
import { addProgressLine, type ChildEntry } from "./child-registry.ts";
import type { ChildTask } from "./child-prompt.ts";
import type { ChildWaits } from "./child-waits.ts";

export interface ChildProgress {
  /** Settles when there is no more to report. */
  readonly settled: Promise<void>;
  /** What it had said of an answer that was not finished. */
  unfinishedText(): string;
  /** All its calls have left, each once. */
  artifacts(): readonly ArtifactRef[];
}

interface Child extends Pick<ChildTask, "role" | "definition"> {
  readonly agent_id: string;
  readonly run_id: string;
}

const MOST_LINE_CHARS = 400;
/** Of an unfinished line: what is reported, and white space around it. */
const MOST_KEPT_CHARS = 4 * MOST_LINE_CHARS;
const MOST_ARTIFACTS = 100;

export function followChild(
  run: LoopRun,
  { role, definition, agent_id, run_id }: Child,
  context: ToolContext,
  waits: ChildWaits,
  getEntry: () => ChildEntry | undefined,
): ChildProgress {
  const origin = { agent_id, run_id, role, agent_definition_id: definition.id };
  const artifacts = new Map<string, ArtifactRef>();
  let answerText = "";
  /** What of it is not reported yet. */
  let unreported = "";
  return {
    settled: follow().catch(() => {}),
    unfinishedText: () => answerText,
    artifacts: () => [...artifacts.values()].slice(0, MOST_ARTIFACTS),
  };

  async function follow(): Promise<void> {
    try {
      for await (const event of run.events()) handleEvent(event);
    } finally {
      waits.close();
    }
  }

  function handleEvent(event: LoopEvent): void {
    switch (event.type) {
      case "text_delta":
        handleText(event.text);
        return;
      case "call":
        flushText();
        answerText = "";
        reportProgress("call", `${event.name} ${event.arguments}`);
        return;
      case "result":
        handleResult(event.result);
        return;
      case "fact":
        handleFact(event.fact);
        return;
      case "abandoned":
        unreported = "";
        answerText = "";
        reportProgress("retry", event.reason);
        return;
      case "end":
        flushText();
        return;
      case "queued":
      case "started":
      case "compacted":
    }
  }

  function handleText(text: string): void {
    answerText += text;
    // All that is left of a call that is cut short.
    context.output(text);
    const lines = (unreported + text).split("\n");
    // A line is reported in short, so no more of it is kept: each piece of an endless one would cost all before it.
    unreported = (lines.pop() ?? "").slice(0, MOST_KEPT_CHARS);
    for (const line of lines) reportProgress("text", line);
  }

  function flushText(): void {
    const rest = unreported;
    unreported = "";
    reportProgress("text", rest);
  }

  function handleResult({ tool_call_id, tool_name, status, summary, artifacts: made }: ToolResult) {
    for (const ref of made) artifacts.set(ref.artifact_id, ref);
    waits.ended(tool_call_id);
    reportProgress("result", `${tool_name} ${status}: ${summary}`);
  }

  function handleFact({ type, tool_name = "", data }: Fact): void {
    if (type === "permission.requested") {
      reportProgress("permission", `${tool_name} requires approval`);
    } else if (type === "tool.progress") {
      const { message } = data;
      if (typeof message === "string") reportProgress("progress", `${tool_name}: ${message}`);
    }
  }

  function reportProgress(kind: string, said: string): void {
    // Whole, before it is cut: half a secret is not recognised (REDACT-1).
    const line = context.redact(said).trim();
    if (line === "") return;
    const short = line.length <= MOST_LINE_CHARS ? line : `${line.slice(0, MOST_LINE_CHARS)}…`;
    const entry = getEntry();
    if (entry !== undefined) addProgressLine(entry, short);
    context.progress({ message: `${definition.id}: ${short}`, data: { kind, origin } });
  }
}
