// `soong replay`: a kept run decided again from its journal (REPLAY-1), under another config (REPLAY-2), or printed as a
// script (REPLAY-3). It reads, and carries nothing out.

import { resolve } from "node:path";
import { printScript } from "@soong/agent";
import {
  replayRun,
  ReplayError,
  exportRunScript,
  type Divergence,
  type ReplayReport,
  type WhatIfReport,
  type WhatIfVerdict,
} from "@soong/replay";
import type { SessionReader } from "@soong/store";
import {
  CommandError,
  EXIT,
  UsageError,
  visibleLine,
  wrap,
  type Output,
} from "../../output/index.ts";
import { resolveHome, createHomeRedactor, type CommandContext } from "../context.ts";
import { refuseNothingStored, withReadOnlyStore } from "../stored.ts";
import { openVerifiedSession } from "./stored-run.ts";
import { replayWithConfig } from "./what-if-config.ts";
import { argument, JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "replay",
  summary: "decide a stored run again from its journal; executes nothing",
  arguments: [argument("<run>", "its id")],
  options: [
    option("--config <file>", "under this config: which calls would be decided otherwise"),
    option("--script", "print it as a script, for `soong run --model script:FILE`"),
    JSON_OPTION,
  ],
  examples: [
    "soong replay run_0abc",
    "soong replay run_0abc --config stricter.toml",
    "soong replay run_0abc --script > run.yaml",
  ],
  exitCodes:
    "0 decided as it was, or the answer under another config; 1 it diverges; 2 usage error",
  run: replayStoredRun,
};

interface ReplayCommandOptions {
  readonly json?: boolean;
  readonly config?: string;
  readonly script?: boolean;
}

async function replayStoredRun(
  context: CommandContext,
  run_id: string,
  options: ReplayCommandOptions,
): Promise<number> {
  const { config, script = false, json = false } = options;
  if (script && (config !== undefined || json)) {
    throw new UsageError(
      "--script prints a script and nothing else: leave --config and --json out.",
    );
  }
  try {
    return await withReadOnlyStore(
      context,
      async (store) => {
        const source = await openVerifiedSession(store, run_id);
        if (script) return printRun(context, source, run_id);
        if (config !== undefined) return tryConfig(context, source, run_id, config, json);
        return replay(context.output, source, run_id, json);
      },
      () => refuseNothingStored(`run ${run_id}`),
    );
  } catch (error) {
    throw error instanceof ReplayError ? new CommandError(error.message) : error;
  }
}

async function replay(
  output: Output,
  source: SessionReader,
  run_id: string,
  json: boolean,
): Promise<number> {
  const report = await replayRun({ source, run_id });
  if (json) output.record("soong.replay/1", report);
  else showReport(output, report);
  return report.outcome === "same" ? EXIT.ok : EXIT.failed;
}

function showReport(output: Output, report: ReplayReport): void {
  const { divergence, calls, surfaces, end, left_out } = report;
  const { green, yellow } = output.colours;
  if (divergence === undefined) {
    const surface = surfaces === 1 ? "surface" : `${surfaces} surfaces`;
    const decided = `${calls} ${calls === 1 ? "call" : "calls"} and the ${surface} of the run`;
    output.line(`${green("the same")}: ${decided} are decided as they were.`);
  } else showDivergence(output, divergence);
  for (const { seq, tool_call_id, why } of left_out) {
    const call = tool_call_id === undefined ? "" : ` (call ${visibleLine(tool_call_id)})`;
    output.line(
      `${yellow("skipped")} from fact ${seq}${call} to the end of its turn: ${visibleLine(why)}.`,
    );
  }
  if (end === "none") {
    output.line(
      "The run has no end on record: it is still going, or was cut off. What there is was replayed.",
    );
  }
}

function showDivergence(output: Output, divergence: Divergence): void {
  const { stage, seq, tool_name, tool_call_id, recorded, now } = divergence;
  const { red, bold } = output.colours;
  const call =
    tool_call_id === undefined
      ? ""
      : ` of ${visibleLine(tool_name ?? "")} (${visibleLine(tool_call_id)})`;
  output.line(`${red("diverges")} at fact ${seq}: the ${bold(stage)}${call} is another one now.`);
  output.line(`  recorded  ${visibleLine(recorded)}`);
  output.line(`  now       ${visibleLine(now)}`);
  output.line("Nothing after it was compared.");
}

async function tryConfig(
  context: CommandContext,
  source: SessionReader,
  run_id: string,
  file: string,
  json: boolean,
): Promise<number> {
  const home = await resolveHome(context);
  const report = await replayWithConfig({ source, run_id, home, file: resolve(context.cwd, file) });
  if (json) context.output.record("soong.replay.what_if/1", report);
  else showWhatIf(context.output, report);
  return EXIT.ok;
}

function showWhatIf(output: Output, report: WhatIfReport): void {
  const { refused, surface, calls, unchanged } = report;
  const { bold, dim, red } = output.colours;
  if (refused !== undefined) {
    output.line(`${red("refused")}: the run would not begin. ${visibleLine(refused)}`);
    return;
  }
  for (const { tool_name, was, now, reason } of surface) {
    const why = reason === undefined ? "" : `: ${visibleLine(reason)}`;
    output.line(`tool ${bold(visibleLine(tool_name))}: ${was} → ${now}${why}`);
  }
  for (const { tool_call_id, tool_name, was, now } of calls) {
    const call = `${bold(visibleLine(tool_name))} ${dim(`(${visibleLine(tool_call_id)})`)}`;
    output.line(`call ${call}: ${was.decision} → ${inColour(output, now)}`);
    for (const line of wrap(visibleLine(now.reason), output.width, "    ")) output.line(dim(line));
    output.line(dim(`    ${visibleLine(now.rule)}${describePlace(now)}`));
  }
  const count = `${unchanged} ${unchanged === 1 ? "call" : "calls"}`;
  output.line(calls.length === 0 ? `No decision would change (${count}).` : `${count} as before.`);
}

function inColour({ colours }: Output, { decision }: WhatIfVerdict): string {
  const by = { allow: colours.green, ask: colours.yellow, deny: colours.red };
  return by[decision](decision);
}

function describePlace({ origin }: WhatIfVerdict): string {
  if (origin === undefined) return "";
  const { file, line, flag, code } = origin;
  const inFile = file === undefined ? undefined : line === undefined ? file : `${file}:${line}`;
  const place = inFile ?? flag ?? code;
  return place === undefined ? "" : `  ${visibleLine(place)}`;
}

async function printRun(
  context: CommandContext,
  source: SessionReader,
  run_id: string,
): Promise<number> {
  const redactor = await createHomeRedactor(await resolveHome(context), context.env);
  const { script, prompt, notes } = await exportRunScript({
    source,
    run_id,
    redact: (text) => redactor.text(text),
  });
  const { output } = context;
  output.line(
    `# The run ${visibleLine(run_id)}, as a script: soong run --model script:THIS_FILE PROMPT`,
  );
  if (prompt !== undefined) {
    const words = visibleLine(prompt);
    output.line(
      `# Its prompt: ${words.length > MAX_PROMPT ? `${words.slice(0, MAX_PROMPT)}…` : words}`,
    );
  }
  for (const note of notes) output.line(`# Not carried over: ${visibleLine(note)}`);
  output.text(printScript(script));
  for (const note of notes) output.note(visibleLine(note));
  return EXIT.ok;
}

const MAX_PROMPT = 500;
