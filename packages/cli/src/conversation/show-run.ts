// A run on the screen: its text as it comes, its calls as they go, and how it ended. Only looks; the journal has it all.

import type { LoopEvent, LoopRun, RunEnd } from "@soong/agent";
import type { Clock, Fact, ToolResult } from "@soong/core";
import { createMarkdownStream } from "../markdown/markdown-stream.ts";
import { formatDuration, renderDiff, visibleLine } from "../output/index.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { TERMINAL } from "./ask-permission.ts";
import { createCallBoard } from "./call-board.ts";
import { describeRetry, type Abandoned } from "./describe-retry.ts";
import { printText } from "./print-text.ts";
import { renderExcerpt, type ShownResults } from "./shown-results.ts";

export interface ShowRunOptions {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** What is shown in short, to be shown whole on request. */
  readonly results: ShownResults;
  /** A change of a file, whole: what is shown of it may be a part. */
  changed(diff: string): void;
  /** What was queued first is on its way to the model, or was blocked. */
  inputTaken(blocked: string | undefined): void;
}

/** Of a change that was made; the question before it showed more. */
const MOST_DIFF_LINES = 12;
const TICK_MS = 1000;

/** Answers when everything of the run is on the screen. */
export async function showRun(
  run: Pick<LoopRun, "events" | "end">,
  options: ShowRunOptions,
): Promise<RunEnd> {
  const { terminal, clock, results } = options;
  const { dim, red } = terminal.colours;
  const answer = createMarkdownStream({
    colours: terminal.colours,
    // The cursor may be behind a row.
    width: () => terminal.columns - 1,
  });
  const board = createCallBoard(() => clock.monotonic(), terminal.colours);
  /** Calls whose change was shown before it was made. */
  const shown = new Set<string>();
  /** Since when nothing came from the model. */
  let quietSince = clock.monotonic();
  /** When a request is made again that failed. */
  let retryAt = quietSince;
  let abandoned: Abandoned | undefined;
  let forgetTick = clock.after(TICK_MS, tick);
  try {
    for await (const event of run.events()) {
      if (event.type === "end") return event.end;
      show(event);
    }
    return await run.end;
  } finally {
    forgetTick();
    printRows(answer.end());
    results.answered();
    terminal.live([]);
  }

  function tick(): void {
    forgetTick = clock.after(TICK_MS, tick);
    showLive();
  }

  function showLive(): void {
    const wait = describeWait().map(dim);
    terminal.live(() => [...answer.open(), ...board.live(terminal.columns), ...wait]);
  }

  /** For the model, while nothing comes from it. */
  function describeWait(): string[] {
    const now = clock.monotonic();
    if (!board.isEmpty) return [];
    if (retryAt > now) {
      return [
        `… asking again in ${formatDuration(Math.ceil((retryAt - now) / 1000) * 1000)}; Esc stops`,
      ];
    }
    const quiet = Math.floor((now - Math.max(quietSince, retryAt)) / 1000) * 1000;
    return quiet < TICK_MS ? [] : [`… the model, ${formatDuration(quiet)}; Esc stops`];
  }

  function show(event: Exclude<LoopEvent, { type: "end" }>): void {
    quietSince = clock.monotonic();
    if (event.type === "text_delta") {
      results.say(event.text);
      printRows(answer.push(event.text));
    } else {
      // What else is printed comes behind what was said before it.
      if (event.type !== "fact") {
        printRows(answer.end());
        results.answered();
      }
      printEvent(event);
    }
    showLive();
  }

  function printRows(rows: readonly string[]): void {
    if (rows.length > 0) terminal.print(rows.join("\n"));
  }

  function printEvent(event: Exclude<LoopEvent, { type: "end" | "text_delta" }>): void {
    switch (event.type) {
      case "started":
        return;
      case "input":
        options.inputTaken(event.blocked);
        return;
      case "queued":
        terminal.print(dim(`waits for ${event.ahead} other runs of this session`));
        return;
      case "call":
        board.requested(event);
        return;
      case "fact":
        board.noted(event.fact);
        printAnswer(event.fact);
        return;
      case "result":
        showResult(event.result);
        return;
      case "abandoned": {
        board.clear();
        retryAt = clock.monotonic() + event.wait_ms;
        printText(terminal, describeRetry(event, abandoned), dim);
        abandoned = event;
        return;
      }
      case "compacted":
        terminal.print(
          dim(
            `The conversation was summed up: ${event.tokens_before} → ${event.tokens_after} tokens.`,
          ),
        );
        return;
    }
  }

  /** Of a question that was answered elsewhere; here one has just answered oneself. */
  function printAnswer(fact: Fact): void {
    const { tool_call_id = "", tool_name = "" } = fact;
    if (fact.type === "permission.requested") shown.add(tool_call_id);
    if (fact.type !== "permission.resolved") return;
    const { decision, answered_by } = fact.data;
    if (answered_by === undefined || answered_by === TERMINAL) return;
    const word = decision === "deny" ? red("no") : "yes";
    const session = decision === "allow_for_session" ? ", for this session" : "";
    terminal.print(
      dim(`${visibleLine(tool_name)}: ${word}${session}, answered by ${visibleLine(answered_by)}.`),
    );
  }

  function showResult(result: ToolResult): void {
    const { columns, colours, hasScreen } = terminal;
    const { about, line } = board.ended(result, columns);
    results.add({ about, result });
    const key = hasScreen ? "Ctrl-O" : "/output";
    terminal.print([line, ...renderExcerpt(result, { columns, colours, key })].join("\n"));
    showChange(result);
  }

  function showChange({ tool_call_id, data, is_error }: ToolResult): void {
    const { diff } = (data ?? {}) as { readonly diff?: unknown };
    if (is_error || typeof diff !== "string") return;
    options.changed(diff);
    if (shown.has(tool_call_id)) return;
    const lines = diff.trimEnd().split("\n");
    terminal.print(renderDiff(lines.slice(0, MOST_DIFF_LINES).join("\n"), terminal.colours));
    const more = lines.length - MOST_DIFF_LINES;
    if (more > 0)
      terminal.print(dim(`… ${more} more ${more === 1 ? "line" : "lines"}; /diff shows all.`));
  }
}
