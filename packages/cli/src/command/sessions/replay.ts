// `soong replay`: a stored run decided again from its journal (REPLAY-1), under another config (REPLAY-2), or printed as a
// script (REPLAY-3). It reads, and executes nothing.

import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { printScript } from "@soong/agent";
import type { PolicyInput } from "@soong/core";
import {
  replayRun,
  ReplayError,
  exportRunScript,
  whatIf,
  type ReplayReport,
  type WhatIfOptions,
  type WhatIfReport,
} from "@soong/replay";
import type { SessionReader } from "@soong/store";
import { buildPolicy, loadConfig, pickKernelConfig, type SoongConfig } from "../../config/index.ts";
import {
  CommandError,
  EXIT,
  UsageError,
  visibleLine,
  wrap,
  type Output,
} from "../../output/index.ts";
import { resolveHome, createHomeRedactor } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { describeRun, openVerifiedSession, resolveRun, withReadOnlyStore } from "../stored.ts";
import { colourDecision, describeOrigin } from "../tools/render-policy.ts";

export const replayStoredRun: Handler<"replay"> = async (
  context,
  { run: given },
  { config, script = false },
) => {
  const { output, json, print } = context;
  if (script && (config !== undefined || json)) {
    throw new UsageError(
      "--script prints a script and nothing else: use it without --config and --json.",
    );
  }
  try {
    return await withReadOnlyStore<number | void>(context, describeRun(given), async (store) => {
      const run = await resolveRun(context, store, given);
      const source = await openVerifiedSession(store, run);
      const { run_id } = run;
      if (script) return printRunScript(context, source, run_id);
      if (config !== undefined) {
        const file = resolve(context.cwd, config);
        const home = resolveHome(context);
        const report = await replayWithConfig({ source, run_id, home, file });
        if (json) output.record("soong.replay.what_if/1", report);
        else renderWhatIf(output, report).forEach((line) => output.line(line));
        return EXIT.ok;
      }
      const report = await replayRun({ source, run_id });
      print(report, () => renderReport(output, report));
      return report.outcome === "same" ? EXIT.ok : EXIT.failed;
    });
  } catch (error) {
    throw error instanceof ReplayError ? new CommandError(error.message) : error;
  }
};

function renderReport({ colours }: Output, report: ReplayReport): string[] {
  const { divergence, calls, surfaces, end, left_out } = report;
  const { green, yellow } = colours;
  const surface = surfaces === 1 ? "surface" : `${surfaces} surfaces`;
  const decided = `${calls} ${calls === 1 ? "call" : "calls"} and the ${surface} of the run`;
  return [
    ...(divergence === undefined
      ? [`${green("the same")}: ${decided} are decided as they were.`]
      : renderDivergence(divergence)),
    ...left_out.map(({ seq, tool_call_id, why }) => {
      const call = tool_call_id === undefined ? "" : ` (call ${visibleLine(tool_call_id)})`;
      return `${yellow("skipped")} from fact ${seq}${call} to the end of its turn: ${visibleLine(why)}.`;
    }),
    ...(end === "none"
      ? [
          "The run has no end on record: it is still going, or was cut off. What there is was replayed.",
        ]
      : []),
  ];

  function renderDivergence(at: NonNullable<typeof divergence>): string[] {
    const { stage, seq, tool_name = "", tool_call_id: id, recorded, now } = at;
    const call = id === undefined ? "" : ` of ${visibleLine(tool_name)} (${visibleLine(id)})`;
    return [
      `${colours.red("diverges")} at fact ${seq}: the ${colours.bold(stage)}${call} is another one now.`,
      `  recorded  ${visibleLine(recorded)}`,
      `  now       ${visibleLine(now)}`,
      "Nothing after it was compared.",
    ];
  }
}

function renderWhatIf({ colours, width }: Output, report: WhatIfReport): string[] {
  const { refused, surface, calls, unchanged } = report;
  const { bold, dim, red } = colours;
  if (refused !== undefined) {
    return [`${red("refused")}: the run would not begin. ${visibleLine(refused)}`];
  }
  const count = `${unchanged} ${unchanged === 1 ? "call" : "calls"}`;
  return [
    ...surface.map(({ tool_name, was, now, reason }) => {
      const why = reason === undefined ? "" : `: ${visibleLine(reason)}`;
      return `tool ${bold(visibleLine(tool_name))}: ${was} → ${now}${why}`;
    }),
    ...calls.flatMap(({ tool_call_id, tool_name, was, now }) => {
      const call = `${bold(visibleLine(tool_name))} ${dim(`(${visibleLine(tool_call_id)})`)}`;
      const place = describeOrigin(now.origin);
      return [
        `call ${call}: ${was.decision} → ${colourDecision(colours, now.decision)}`,
        ...wrap(visibleLine(now.reason), width, "    ").map(dim),
        dim(`    ${visibleLine(now.rule)}${place === "" ? "" : `  ${place}`}`),
      ];
    }),
    calls.length === 0 ? `No decision would change (${count}).` : `${count} as before.`,
  ];
}

interface WhatIfConfig {
  readonly source: SessionReader;
  readonly run_id: string;
  readonly home: string;
  /** An absolute path. */
  readonly file: string;
}

/** That config's rules and tools in place of the recorded ones. */
export async function replayWithConfig(options: WhatIfConfig): Promise<WhatIfReport> {
  const { source, run_id, ...place } = options;
  return whatIf({ source, run_id, ...(await readWhatIfConfig(place)) });
}

export async function readWhatIfConfig(
  place: Pick<WhatIfConfig, "home" | "file">,
): Promise<Pick<WhatIfOptions, "policy" | "config">> {
  const { values } = await loadConfig(place);
  return { policy: replaceRules(values), config: { tools: pickKernelConfig(values).tools } };
}

/** The config's rules in place of the recorded ones of a config; what flags and programs said stays, and so do the places. */
function replaceRules(values: SoongConfig): (recorded: PolicyInput) => PolicyInput {
  const { rules = [], ...others } = buildPolicy(values, { allow: [], deny: [] });
  return ({ tmp_dir, ...recorded }) => {
    const { roots, home = "" } = recorded;
    const write = values.tools.write_roots.map((root) => {
      const path = root === "~" || root.startsWith("~/") ? join(home, root.slice(1)) : root;
      return resolve(roots?.project ?? "/", path);
    });
    const said = recorded.rules?.filter(({ origin }) => origin?.file === undefined) ?? [];
    return {
      ...recorded,
      ...others,
      ...(values.tools.tmp_dir ? { tmp_dir: tmp_dir ?? tmpdir() } : {}),
      rules: [...rules, ...said],
      ...(roots === undefined ? {} : { roots: { ...roots, write } }),
    };
  };
}

const MAX_PROMPT = 500;

async function printRunScript(
  { output, ...context }: CommandContext,
  source: SessionReader,
  run_id: string,
): Promise<void> {
  const redactor = await createHomeRedactor(resolveHome(context), context.env);
  const redact = (text: string): string => redactor.text(text);
  const { script, prompt, notes } = await exportRunScript({ source, run_id, redact });
  output.line(
    `# The run ${visibleLine(run_id)}, as a script: soong run --model script:THIS_FILE PROMPT`,
  );
  if (prompt !== undefined) {
    const words = visibleLine(prompt);
    const shown = words.length > MAX_PROMPT ? `${words.slice(0, MAX_PROMPT)}…` : words;
    output.line(`# Its prompt: ${shown}`);
  }
  for (const note of notes) output.line(`# Not carried over: ${visibleLine(note)}`);
  output.text(printScript(script));
  for (const note of notes) output.note(visibleLine(note));
}
