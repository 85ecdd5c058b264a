// One tool for people: what it does and takes, what would be decided about a call, where it comes from, an example.

import { staticVerdict, type CatalogEntry, type Run } from "@soong/core";
import { toolFacts } from "@soong/core/internal";
import type { JsonObject } from "@soong/schema";
import { pad, visible, visibleLine, wrap, type Output } from "../../output/index.ts";
import { listParameters, renderParameters, writeExampleCall } from "./parameters.ts";
import { describeOrigin } from "./render-policy.ts";

const NAME_WIDTH = 10;

export function renderTool(output: Output, run: Run, entry: CatalogEntry): string[] {
  const { surface, policy } = run;
  const tool = surface.standing.get(entry.tool_name)?.tool;
  const { bold } = output.colours;
  const name = visibleLine(entry.tool_name);
  if (tool === undefined) {
    return [bold(name), ...renderFields(output, [["state", describeState(entry)]])];
  }
  const { verdict, reason, rule } = staticVerdict(policy, toolFacts(policy, tool));
  const { source, definition } = tool;
  const parameters = listParameters(tool.input.original as JsonObject);
  const [, index] = /^rules\[(\d+)\]$/.exec(rule) ?? [];
  const origin = index === undefined ? undefined : policy.input.rules?.[Number(index)]?.origin;
  const place = describeOrigin(origin);
  const example = writeExampleCall(entry.tool_name, parameters);
  return [
    bold(name),
    ...visible(definition.description)
      .split("\n")
      .flatMap((line) => (line.trim() === "" ? [""] : wrap(line, output.width, "  "))),
    "",
    ...renderFields(output, [
      ["state", describeState(entry)],
      ["a call", `${VERDICTS[verdict] ?? verdict}: ${reason}`],
      ["by", `${rule}${place === "" ? "" : `, ${place}`}`],
      ["effects", describeEffects(entry, tool.tags)],
      ["from", describeSource(source)],
      ["aliases", definition.aliases?.join(", ") ?? ""],
    ]),
    "",
    parameters.length === 0 ? "It takes no parameters." : "Parameters:",
    ...renderParameters(output, parameters),
    "",
    "Examples:",
    `  ${visibleLine(example)}`,
    `  ${visibleLine(example.replace("soong call", "soong explain"))}`,
  ];
}

function describeSource({ kind, id, file, host }: Source): string {
  if (kind === "code") return "built in";
  const where = file ?? host;
  return `${kind} ${id}${where === undefined ? "" : ` (${where})`}`;
}

interface Source {
  readonly kind: string;
  readonly id: string;
  readonly file?: string;
  readonly host?: string;
}

/** Without a concrete input. */
const VERDICTS: Readonly<Record<string, string>> = {
  allowed: "runs without asking",
  ask: "requires approval",
  denied: "is denied",
};

function describeState({ state, reason, detail }: CatalogEntry): string {
  if (state !== "excluded") return state === "loaded" ? "offered" : "found by search";
  return [`not offered (${reason ?? "excluded"})`, detail ?? ""].filter(Boolean).join(": ");
}

function describeEffects(entry: CatalogEntry, tags: readonly string[]): string {
  const { is_read_only, is_destructive, is_open_world } = entry;
  const words = [
    is_read_only === true ? "only reads" : "may change something",
    ...(is_destructive === true ? ["may destroy"] : []),
    ...(is_open_world === true ? ["reaches out of this machine"] : []),
  ];
  const marks = tags.length === 0 ? "" : ` (${tags.join(", ")})`;
  return `${words.join(", ")}${marks}`;
}

function renderFields(
  { colours, width }: Output,
  fields: readonly (readonly [name: string, text: string])[],
): string[] {
  const indent = " ".repeat(NAME_WIDTH + 2);
  return fields
    .filter(([, text]) => text !== "")
    .flatMap(([name, text]) => {
      const [first = "", ...more] = wrap(visibleLine(text), width, indent);
      return [`  ${colours.dim(pad(name, NAME_WIDTH))}${first.trimStart()}`, ...more];
    });
}
