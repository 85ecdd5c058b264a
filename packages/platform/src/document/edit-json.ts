// A change of one value in a JSON file that a user wrote: comments, order and layout of everything else stay.

import { applyEdits, findNodeAtLocation, modify, parseTree } from "jsonc-parser";
import type { DocumentPath } from "./problem.ts";

/** `undefined` removes what is there. The text has to be sound; an empty one becomes an object. */
export function editJson(text: string, path: DocumentPath, value: unknown): string {
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const plain = text.slice(bom.length);
  const whole = plain.trim() === "" ? "{}\n" : plain;
  return bom + (addBelow(whole, path, value) ?? changeAt(whole, path, value));
}

function changeAt(text: string, path: DocumentPath, value: unknown): string {
  const { indent, eol } = findLayout(text);
  const isTabbed = indent.startsWith("\t");
  const tabSize = isTabbed ? 1 : indent.length;
  const formattingOptions = { insertSpaces: !isTabbed, tabSize, eol };
  return applyEdits(text, modify(text, [...path], value, { formattingOptions }));
}

/** On lines of its own, behind the last key of an object that has its keys on lines; the library would lay out that key anew. */
function addBelow(text: string, path: DocumentPath, value: unknown): string | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const parent = root && findNodeAtLocation(root, path.slice(0, -1));
  const last = parent?.type === "object" ? parent.children?.at(-1) : undefined;
  if (root === undefined || last === undefined || value === undefined) return undefined;
  if (findNodeAtLocation(root, [...path]) !== undefined) return undefined;
  const before = /(?:^|\n)([ \t]*)$/.exec(text.slice(0, last.offset))?.[1];
  if (before === undefined) return undefined;
  const { indent, eol } = findLayout(text);
  const written = JSON.stringify(value, undefined, indent).replaceAll("\n", `${eol}${before}`);
  const end = last.offset + last.length;
  const added = `,${eol}${before}${JSON.stringify(path.at(-1))}: ${written}`;
  return text.slice(0, end) + added + text.slice(end);
}

/** As the file has it: the first line that is indented tells. */
function findLayout(text: string): { indent: string; eol: string } {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  return { indent, eol: text.includes("\r\n") ? "\r\n" : "\n" };
}
