// `soong import`: what another agent on this machine has, shown as what it would be here, and written into the home if the
// user says so. Without a user to ask, and without --yes, it only shows.

import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { userHome } from "../../config/index.ts";
import { findInClaudeCode } from "../../import/claude-code.ts";
import { findInCodex } from "../../import/codex.ts";
import type { Found, ImportPlaces } from "../../import/found.ts";
import { findInGemini } from "../../import/gemini.ts";
import { findInOpencode } from "../../import/opencode.ts";
import { planImport, type ImportPlan, type ItemKind } from "../../import/plan-import.ts";
import { writeImport } from "../../import/write-import.ts";
import { EXIT, UsageError, fit, pad, visibleLine, wrap, type Output } from "../../output/index.ts";
import { HOST_NAMES } from "../../runtime/host-servers.ts";
import { createHomeRedactor, loadUserConfig } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { createTerminalQuestions } from "../terminal-questions.ts";

type Program = "claude-code" | "codex" | "gemini" | "opencode";

const READERS: Readonly<Record<Program, (places: ImportPlaces) => Promise<Found>>> = {
  "claude-code": findInClaudeCode,
  codex: findInCodex,
  gemini: findInGemini,
  opencode: findInOpencode,
};

export const importFromProgram: Handler<"import"> = async (
  context,
  { program },
  { from, project = false, yes = false },
) => {
  const { output, print, env, isInteractive, stdin } = context;
  const config = await loadUserConfig(context);
  // Rules and command lines of other programs may hold a key.
  output.hide(await createHomeRedactor(config.home, env));
  const places = findPlaces(context, from, project);
  const plan = await planImport(await READERS[program](places), config, env);
  const name = HOST_NAMES[program];
  for (const item of plan.items) print({ item }, () => {});
  for (const unmapped of plan.unmapped) print({ unmapped }, () => {});
  if (!context.json) for (const line of renderPlan(output, plan)) output.line(line);
  const count = plan.items.filter(({ state }) => state === "new").length;
  if (count === 0) {
    const isEmpty = plan.items.length + plan.unmapped.length === 0;
    print({ written: [] }, () =>
      isEmpty
        ? `Nothing of ${name} was found in ${visibleLine(places.userHome)}; --from names another home directory.`
        : `Nothing of ${name} is new here.`,
    );
    return EXIT.ok;
  }
  if (!yes && !isInteractive) {
    print(
      { written: [] },
      () => "Nothing was written. Run it again with --yes to write what is new.",
    );
    return EXIT.ok;
  }
  const question = `Write ${count === 1 ? "what is new" : `these ${count}`} into ${visibleLine(config.home)}?`;
  if (!yes && !(await createTerminalQuestions(stdin, output).confirm(question))) return EXIT.denied;
  const written = await writeImport(plan, config.home, env);
  print({ written }, () => [
    ...written.map((file) => `Wrote ${visibleLine(file)}`),
    "`soong doctor` checks all of it; `soong explain` shows the rules.",
  ]);
  return EXIT.ok;
};

/** A directory given is the home of the user, or that of the program in it. */
function findPlaces(
  { env, cwd }: CommandContext,
  from: string | undefined,
  withProject: boolean,
): ImportPlaces {
  if (from === undefined) return { env, userHome: userHome(env), cwd, withProject };
  const given = resolve(cwd, from);
  if (!existsSync(given)) {
    throw new UsageError(
      `${visibleLine(given)} is not there. Give the home directory that has its files.`,
    );
  }
  const isOwn = [".claude", ".codex", ".gemini"].includes(basename(given));
  const isConfig = basename(given) === "opencode" && basename(dirname(given)) === ".config";
  const home = isOwn ? dirname(given) : isConfig ? dirname(dirname(given)) : given;
  // Variables of this process say where the files of its own user are.
  const { CLAUDE_CONFIG_DIR: _, CODEX_HOME: __, XDG_CONFIG_HOME: ___, ...rest } = env;
  return { env: { ...rest, HOME: home }, userHome: home, cwd, withProject };
}

const TITLES: Readonly<Record<ItemKind, string>> = {
  server: "MCP servers, for mcp.json",
  rule: "Permission rules, for config.toml",
  agent: "Agents",
  skill: "Skills",
  command: "Commands",
  instructions: "Instructions, for AGENTS.md",
};

const NAME_WIDTH = 20;
const INDENT = " ".repeat(10);

function renderPlan({ colours, width }: Output, { items, unmapped }: ImportPlan): string[] {
  const { bold, dim, green } = colours;
  const lines: string[] = [];
  const explain = (text: string): string[] => wrap(visibleLine(text), width, INDENT).map(dim);
  for (const [kind, title] of Object.entries(TITLES)) {
    const own = items.filter((item) => item.kind === kind);
    if (own.length === 0) continue;
    lines.push(bold(title));
    for (const { name, state, detail, notes } of own) {
      const mark = state === "new" ? green(pad("new", 7)) : dim(pad("exists", 7));
      const says = state === "new" ? detail : "kept as it is";
      const label = pad(visibleLine(name), NAME_WIDTH);
      // What will be run is not cut.
      const isLong =
        state === "new" &&
        (kind === "rule" || (kind === "server" && visibleLine(says).length > width - 31));
      if (isLong) lines.push(`  ${mark} ${visibleLine(name)}`, ...explain(says));
      else lines.push(`  ${mark} ${label} ${dim(fit(visibleLine(says), width - 31))}`.trimEnd());
      lines.push(...notes.flatMap(explain));
    }
    lines.push("");
  }
  if (unmapped.length === 0) return lines;
  lines.push(bold("Not taken over"));
  for (const { what, why, from } of unmapped) {
    lines.push(`  ${visibleLine(what)}`, ...explain(`${why} (${from})`));
  }
  return [...lines, ""];
}
