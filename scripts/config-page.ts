// The page of all settings, made from their definition. What is written by hand is above the mark and
// is kept.

import { renderTomlValue } from "../packages/cli/src/config/commented-config.ts";
import type { AnyNode, AnyTable, Setting } from "../packages/cli/src/config/definition.ts";
import { SECTIONS } from "../packages/cli/src/config/sections.ts";

export const HAND_WRITTEN_ABOVE =
  "<!-- Written by hand above this line; made from the definition below. -->";

/** `existing`: the page as it is, whose hand-written part is taken over. */
export function configPage(existing: string): string {
  const root: AnyTable = SECTIONS;
  const [written = ""] = existing.split(HAND_WRITTEN_ABOVE);
  return [
    `${written}${HAND_WRITTEN_ABOVE}`,
    "",
    "## All settings",
    "",
    "### Before the first section",
    "",
    ...settingsTable(root),
    ...tablesOf(root, ""),
  ].join("\n");
}

function tablesOf(table: AnyTable, prefix: string): string[] {
  return Object.entries(table.keys).flatMap(([key, node]) => tableLines(node, `${prefix}${key}`));
}

function tableLines(node: AnyNode, name: string): string[] {
  if ("kind" in node) return [];
  if ("each" in node) {
    return [
      `### \`[${name}.NAME]\``,
      "",
      node.says,
      "",
      ...settingsTable(node.each),
      ...example(node.example),
      ...tablesOf(node.each, `${name}.NAME.`),
    ];
  }
  return [
    `### \`[${name}]\``,
    "",
    node.says,
    "",
    ...settingsTable(node),
    ...Object.values(node.keys).flatMap((member) =>
      "kind" in member && member.tables !== undefined ? example(member.tables) : [],
    ),
    ...tablesOf(node, `${name}.`),
  ];
}

function settingsTable(table: AnyTable): string[] {
  const rows = Object.entries(table.keys).flatMap(([key, node]) =>
    "kind" in node ? [row(key, node)] : [],
  );
  if (rows.length === 0) return [];
  return ["| key | value | default | meaning |", "| --- | --- | --- | --- |", ...rows, ""];
}

function row(key: string, setting: Setting<unknown>): string {
  const written = setting.needed === true ? undefined : renderTomlValue(setting.default);
  const missing = setting.needed === true ? "needed" : "none";
  return [
    "",
    ` \`${key}\` `,
    ` ${setting.kind.words} `,
    ` ${written === undefined ? missing : `\`${written}\``} `,
    ` ${setting.says} `,
    "",
  ].join("|");
}

function example(lines: readonly string[]): string[] {
  return ["```toml", ...lines, "```", ""];
}
