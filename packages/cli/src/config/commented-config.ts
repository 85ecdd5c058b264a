// The file that `soong init` writes: every section with what it is for, every setting with its default. A
// line that begins with "#" and a key is taken into use by removing the "#"; so is an example, line by line.

import type { AnyNode, AnyTable, Setting } from "./definition.ts";
import { SECTIONS } from "./sections.ts";

export function commentedConfig(): string {
  const root: AnyTable = SECTIONS;
  return `${[...INTRODUCTION, ...renderSettings(root), ...renderTables(root, "")].join("\n").trimEnd()}\n`;
}

/** A default as it would be written; undefined where the default is to say nothing. */
export function renderTomlValue(value: unknown): string | undefined {
  if (typeof value === "number") return groupedByThousands(value);
  return value === undefined ? undefined : JSON.stringify(value);
}

const INTRODUCTION = [
  "# The config of Soong. Nothing in it is needed.",
  '# A line such as "#key = value" shows a default: take away the "#" and change the value.',
  "# Lines set in further are examples. API keys are never written here: only the names of the",
  "# environment variables that hold them.",
  "",
];

/** Those written as tables come last: what stood behind one would fall into it. */
function renderSettings(table: AnyTable): string[] {
  const settings = Object.entries(table.keys).flatMap(([key, node]) =>
    "kind" in node ? [{ key, node }] : [],
  );
  return [
    ...settings.filter(({ node }) => node.tables === undefined),
    ...settings.filter(({ node }) => node.tables !== undefined),
  ].flatMap(({ key, node }) => [...settingLines(key, node), ""]);
}

function settingLines(key: string, setting: Setting<unknown>): string[] {
  const { says, example, tables } = setting;
  const lines = prose(says);
  if (tables !== undefined) return [...lines, ...tables.map(exampleLine)];
  const value = renderTomlValue(setting.default);
  if (value !== undefined) return [...lines, `#${key} = ${value}`];
  if (example !== undefined) return [...lines, exampleLine(`${key} = ${example}`)];
  return [`# ${key}:`, ...lines];
}

/** Each table under its header; headers are in force, so that every line falls where it belongs. */
function renderTables(table: AnyTable, prefix: string): string[] {
  return Object.entries(table.keys).flatMap(([key, node]) => nodeLines(node, `${prefix}${key}`));
}

function nodeLines(node: AnyNode, name: string): string[] {
  if ("kind" in node) return [];
  if ("each" in node) return [...prose(node.says), ...node.example.map(exampleLine), ""];
  return [
    ...prose(node.says),
    `[${name}]`,
    "",
    ...renderSettings(node),
    ...renderTables(node, `${name}.`),
  ];
}

function exampleLine(line: string): string {
  return line === "" ? "#" : `#   ${line}`;
}

function prose(text: string): string[] {
  const lines: string[] = [];
  let line = "#";
  for (const word of text.replaceAll("`", "").split(" ")) {
    if (line.length + word.length > 98) {
      lines.push(line);
      line = "#";
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

function groupedByThousands(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, "_");
}
