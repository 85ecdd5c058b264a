// Holds the values of a file against the definition: fills in defaults and collects every finding at once.
// What belongs together across settings is looked at elsewhere.

import { nearestName } from "@soong/core/internal";
import type { AnyNamedTables, AnyNode, AnyTable, Setting } from "./definition.ts";
import type { TomlPath } from "./toml-places.ts";
import { describeKind, isTable, kindOf, valueProblems } from "./value-kinds.ts";
import { keyName } from "./config-error.ts";

/** A finding at a key, or at the value behind it. */
export interface Finding {
  readonly path: TomlPath;
  readonly at: "key" | "value";
  readonly weight: "problem" | "warning";
  readonly message: string;
}

export interface Checked {
  readonly values: unknown;
  readonly findings: readonly Finding[];
}

export function checkValues(sections: AnyTable, document: unknown): Checked {
  const findings: Finding[] = [];
  const values = readTable(sections, document, []);
  return { values, findings };

  function read(node: AnyNode, value: unknown, path: TomlPath): unknown {
    switch (node.node) {
      case "setting":
        return readSetting(node, value, path);
      case "table":
        return readTable(node, value, path);
      case "named_tables":
        return readNamedTables(node, value, path);
    }
  }

  function readSetting(setting: Setting<unknown>, value: unknown, path: TomlPath): unknown {
    if (value === undefined) {
      if (setting.needed === true)
        problem(path, "key", `is missing; it is ${describeKind(setting.kind).replaceAll("`", "")}`);
      return setting.default;
    }
    for (const { index, message } of valueProblems(setting.kind, value)) {
      problem(index === undefined ? path : [...path, index], "value", message);
    }
    if (setting.effect === "none_yet" && value !== setting.default) warnOfNoEffect(path);
    return value;
  }

  function readTable(table: AnyTable, value: unknown, path: TomlPath): unknown {
    const given = withoutAliases(table, tableOrNothing(value, path), path);
    const values: [string, unknown][] = [];
    for (const key of Object.keys(given)) {
      if (Object.hasOwn(table.keys, key)) continue;
      problem([...path, key], "key", unknownKey(sections, table, path, key));
    }
    for (const [key, node] of Object.entries(table.keys)) {
      values.push([
        key,
        read(node, Object.hasOwn(given, key) ? given[key] : undefined, [...path, key]),
      ]);
    }
    return withoutPrototype(values);
  }

  /** A setting under another of its names is the same setting; findings are told at the name that was written. */
  function withoutAliases(
    table: AnyTable,
    given: Record<string, unknown>,
    path: TomlPath,
  ): Record<string, unknown> {
    const named = { ...given };
    for (const [key, node] of Object.entries(table.keys)) {
      for (const alias of (node.node === "setting" ? node.aliases : undefined) ?? []) {
        if (!Object.hasOwn(given, alias)) continue;
        const at = [...path, alias];
        delete named[alias];
        const wrong = node.node === "setting" ? valueProblems(node.kind, given[alias]) : [];
        for (const { index, message } of wrong) {
          problem(index === undefined ? at : [...at, index], "value", message);
        }
        if (Object.hasOwn(given, key)) {
          problem(at, "key", `is another name of ${key}; write one of them`);
        } else if (wrong.length === 0) named[key] = given[alias];
      }
    }
    return named;
  }

  function readNamedTables(named: AnyNamedTables, value: unknown, path: TomlPath): unknown {
    return withoutPrototype(
      Object.entries(tableOrNothing(value, path)).flatMap(([name, each]) => {
        const wrong = named.nameProblem(name);
        if (wrong === undefined) return [[name, readTable(named.each, each, [...path, name])]];
        problem([...path, name], "key", wrong);
        return [];
      }),
    );
  }

  function tableOrNothing(value: unknown, path: TomlPath): Record<string, unknown> {
    if (isTable(value)) return value;
    if (value !== undefined) {
      problem(path, "value", `is ${kindOf(value)}, not a table; it begins with [${keyName(path)}]`);
    }
    return {};
  }

  function problem(path: TomlPath, at: Finding["at"], message: string): void {
    findings.push({ path, at, weight: "problem", message });
  }

  function warnOfNoEffect(path: TomlPath): void {
    const message = "has no effect yet: the part of Soong it belongs to is not built";
    findings.push({ path, at: "key", weight: "warning", message });
  }
}

/** With the nearest valid key: the very same in another section, or one of this table that is like it. */
function unknownKey(sections: AnyTable, table: AnyTable, path: TomlPath, key: string): string {
  const what = path.length === 0 ? "is not a section" : `is not a key of [${keyName(path)}]`;
  const elsewhere = Object.entries(sections.keys).find(
    ([, section]) => section.node === "table" && Object.hasOwn(section.keys, key),
  );
  if (elsewhere !== undefined) return `${what}; it belongs in [${elsewhere[0]}]`;
  const valid = Object.keys(table.keys);
  const near = nearestName(key, valid) ?? onlyOneLike(key, valid);
  return near === undefined
    ? `${what}; valid are ${valid.join(", ")}`
    : `${what}; did you mean "${near}"?`;
}

/** A key that was cut short, or got a word too many. */
function onlyOneLike(key: string, valid: readonly string[]): string | undefined {
  const like = valid.filter((name) => name.startsWith(`${key}_`) || key.startsWith(`${name}_`));
  return like.length === 1 ? like[0] : undefined;
}

/** Names from a file are looked up in these: nothing may be found that was not written. */
function withoutPrototype(entries: readonly (readonly [string, unknown])[]): object {
  const values = Object.create(null) as object;
  for (const [key, value] of entries) {
    Object.defineProperty(values, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return values;
}
