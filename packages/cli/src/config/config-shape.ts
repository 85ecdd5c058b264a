// The shape of the whole file, made from the sections, and the values of a sound file with every default filled in.

import { createRedactor } from "@soong/core";
import { isPlainRecord } from "@soong/schema";
import { shape, type DocumentPath, type Place, type Shape } from "@soong/platform";
import type { AnyNode, AnyTable } from "./definition.ts";
import { LOOKS_LIKE_A_KEY } from "./value-kinds.ts";

export function configShape(sections: AnyTable): Shape<unknown> {
  const checkSections = tableShape(sections, "");
  return (value, place) => {
    const keys = findKeys(value);
    for (const path of keys) place.in(...path).report(LOOKS_LIKE_A_KEY);
    // Nothing more must be said of those.
    const known = new Set(keys.map((path) => path.join("\0")));
    checkSections(
      value,
      withoutReports(place, (path) => known.has(path.join("\0"))),
    );
  };

  function tableShape(table: AnyTable, name: string): Shape<unknown> {
    const fields = Object.entries(table.keys).flatMap(([key, node]) => {
      const check = nodeShape(node, name === "" ? key : `${name}.${key}`);
      const aliases = "kind" in node ? (node.aliases ?? []) : [];
      return [key, ...aliases].map((one) => [one, shape.optional(check)] as const);
    });
    return shape.object(Object.fromEntries(fields), {
      what: name === "" ? "the config" : `[${name}]`,
      names: Object.keys(table.keys),
      hint: (key) => {
        const home = findSectionWith(sections, key);
        return home === undefined ? undefined : `it belongs in [${home}]`;
      },
      together(value, place) {
        checkNames(table, value, place);
        table.together?.(value, place);
      },
    });
  }

  function nodeShape(node: AnyNode, name: string): Shape<unknown> {
    if ("keys" in node) return tableShape(node, name);
    if ("each" in node) {
      return shape.record(tableShape(node.each, `${name}.NAME`), { nameProblem: node.nameProblem });
    }
    if (node.effect === undefined) return node.kind.shape;
    return shape.refine(node.kind.shape, (value, place) => {
      if (value === node.default) return;
      place.warnKey("has no effect yet: the part of Soong it belongs to is not built");
    });
  }
}

/** Of a value that has passed the shape. Names from a file are looked up in it: it has no prototype. */
export function fillDefaults(table: AnyTable, value: unknown): unknown {
  const given = isPlainRecord(value) ? value : {};
  return record(
    Object.entries(table.keys).map(([key, node]) => {
      const names = [key, ...("kind" in node ? (node.aliases ?? []) : [])];
      const name = names.find((one) => Object.hasOwn(given, one));
      return [key, fillNode(node, name === undefined ? undefined : given[name])];
    }),
  );
}

function fillNode(node: AnyNode, value: unknown): unknown {
  if ("kind" in node) return value ?? node.default;
  if ("keys" in node) return fillDefaults(node, value);
  const named = isPlainRecord(value) ? value : {};
  return record(Object.entries(named).map(([name, each]) => [name, fillDefaults(node.each, each)]));
}

function record(entries: readonly (readonly [string, unknown])[]): object {
  return Object.assign(Object.create(null) as object, Object.fromEntries(entries));
}

/** What is needed is there, and nothing under two names. */
function checkNames(table: AnyTable, value: Readonly<Record<string, unknown>>, place: Place): void {
  for (const [key, node] of Object.entries(table.keys)) {
    if (!("kind" in node)) continue;
    if (!Object.hasOwn(value, key)) {
      const words = node.kind.words.replaceAll("`", "");
      if (node.needed === true) place.in(key).report(`is missing; expected: ${words}`);
      continue;
    }
    for (const alias of node.aliases ?? []) {
      if (!Object.hasOwn(value, alias)) continue;
      place.in(alias).reportKey(`is another name of ${key}; write one of them`);
    }
  }
}

function findSectionWith(sections: AnyTable, key: string): string | undefined {
  return Object.entries(sections.keys).find(
    ([, section]) => "keys" in section && Object.hasOwn(section.keys, key),
  )?.[0];
}

/** The paths of every text that looks like a key. */
function findKeys(value: unknown, path: DocumentPath = []): DocumentPath[] {
  if (typeof value === "string") return REDACTOR.finds(value) ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => findKeys(item, [...path, index]));
  if (!isPlainRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => findKeys(member, [...path, key]));
}

const REDACTOR = createRedactor();

function withoutReports(place: Place, isDropped: (path: DocumentPath) => boolean): Place {
  if (isDropped(place.path)) return { ...place, report() {}, reportKey() {} };
  return { ...place, in: (...steps) => withoutReports(place.in(...steps), isDropped) };
}
