// The kinds of value an entry holds, each read from its place in the text or refused there.

import type { Node } from "jsonc-parser";
import { membersOf, type Finding } from "./json-document.ts";

export interface ValueReader {
  readonly text: (node: Node, key: string) => string | undefined;
  readonly flag: (node: Node, key: string) => boolean | undefined;
  readonly texts: (node: Node, key: string) => string[] | undefined;
  /** Values may be numbers and booleans too: people write ports without quotes. */
  readonly record: (
    node: Node,
    key: string,
  ) => { name: string; value: string; node: Node }[] | undefined;
  readonly milliseconds: (node: Node, key: string) => number | undefined;
}

/** What a platform's timer holds. */
const LONGEST_MS = 2 ** 31 - 1;
// Text that reaches a process or a header: a line break or a NUL would end it early.
// oxlint-disable-next-line no-control-regex
const NUL = /\u0000/;

export function createValueReader(refuse: (finding: Finding) => void): ValueReader {
  function wrong(node: Node, key: string, message: string): undefined {
    refuse({ offset: node.offset, key, message });
    return undefined;
  }

  function text(node: Node, key: string): string | undefined {
    const value: unknown = node.value;
    if (typeof value !== "string") return wrong(node, key, "This must be a text, in quotes.");
    return NUL.test(value) ? wrong(node, key, "This holds a NUL character.") : value;
  }

  return {
    text,
    flag(node, key) {
      const value: unknown = node.value;
      return typeof value === "boolean" ? value : wrong(node, key, "This must be true or false.");
    },
    texts(node, key) {
      if (node.type !== "array") return wrong(node, key, "This must be a list of texts.");
      const items = (node.children ?? []).map((item, index) => text(item, `${key}[${index}]`));
      return items.every((item) => item !== undefined) ? items : undefined;
    },
    record(node, key) {
      if (node.type !== "object") {
        return wrong(node, key, "This must be an object of names and texts.");
      }
      return membersOf(node).flatMap(({ name, value: inner }) => {
        const at = `${key}.${name}`;
        const plain = inner.type === "number" || inner.type === "boolean";
        const value = plain ? String(inner.value) : text(inner, at);
        return value === undefined ? [] : [{ name, value, node: inner }];
      });
    },
    milliseconds(node, key) {
      const value: unknown = node.value;
      const fits = typeof value === "number" && Number.isInteger(value) && value >= 1;
      return fits && value <= LONGEST_MS
        ? value
        : wrong(node, key, `This must be whole milliseconds from 1 to ${LONGEST_MS}.`);
    },
  };
}
