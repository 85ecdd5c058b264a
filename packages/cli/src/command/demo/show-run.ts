// A run of the demo as a user reads it: who says what, which calls, what came of each, and what an edit changed.

import type { LoopEvent } from "@soong/agent";
import { viewsOf, type Kernel, type ToolResult } from "@soong/core";
import { renderDiff, fit, visible, visibleLine, wrap, type Output } from "../../output/index.ts";

const BEFORE_TEXT_MS = 900;
const BEFORE_CALL_MS = 250;
const BEFORE_RESULT_MS = 450;
const AFTER_DIFF_MS = 1500;

/** `pace` waits for a reader, where someone reads along. False: they have seen enough. */
export async function showDemoRun(
  output: Output,
  kernel: Kernel,
  prompt: string,
  events: AsyncIterable<LoopEvent>,
  pace: (ms: number) => Promise<boolean>,
): Promise<void> {
  const { bold, cyan, dim } = output.colours;
  printSpeech(bold("You"), prompt);
  let text = "";
  for await (const event of events) {
    if (event.type === "text_delta") {
      text += event.text;
      continue;
    }
    if (text.trim() !== "") {
      if (!(await pace(BEFORE_TEXT_MS))) return;
      printSpeech(cyan("Model"), text);
    }
    text = "";
    if (event.type === "call") {
      if (!(await pace(BEFORE_CALL_MS))) return;
      const name = visibleLine(event.name);
      output.line(dim(fit(`  → ${name} ${visibleLine(event.arguments)}`, output.width)));
    } else if (event.type === "result") {
      if (!(await pace(BEFORE_RESULT_MS))) return;
      showResult(event.result);
      if (readDiff(event.result) !== undefined && !(await pace(AFTER_DIFF_MS))) return;
    } else if (event.type === "end" && event.end.error !== undefined) {
      output.note(visible(event.end.error.message), "red");
    }
  }

  function printSpeech(who: string, what: string): void {
    for (const line of ["", who, ...wrap(visible(what), output.width, "  ")]) output.line(line);
  }

  function showResult(result: ToolResult): void {
    const { tool_name, status, summary } = result;
    const line = `← ${visibleLine(tool_name)} ${status}: ${visibleLine(summary)}`;
    const [first = "", ...more] = wrap(line, output.width - 4, "  ");
    output.line(first.replace(status, pickColour(result)));
    for (const rest of more) output.line(`    ${rest}`);
    const diff = readDiff(result);
    if (diff !== undefined) output.line(indent(renderDiff(diff, output.colours)));
    else if (tool_name === "code.run_command") showLastLines(result);
  }

  function pickColour({ status }: ToolResult): (text: string) => string {
    const { green, red, yellow } = output.colours;
    if (status === "succeeded") return green;
    return status === "denied" ? yellow : red;
  }

  /** The verdict of a test run. */
  function showLastLines(result: ToolResult): void {
    const { person } = viewsOf(result, kernel.registry.current(result.tool_name)?.definition);
    const verdict = visible(person)
      .split("\n")
      .filter((line) => /^(not ok|. (pass|fail) \d)/.test(line));
    if (verdict.length > 0) output.line(dim(indent(verdict.join("\n"))));
  }
}

function readDiff({ data }: ToolResult): string | undefined {
  const diff = (data as { diff?: unknown } | undefined)?.diff;
  return typeof diff === "string" ? diff : undefined;
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "      ");
}
