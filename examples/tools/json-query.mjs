#!/usr/bin/env node
// The program behind json-query.json. It takes its input from stdin: one line of JSON with the whole call.

import { readFileSync, realpathSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_SHOWN = 20_000;

const { cwd, input } =
  /** @type {{ cwd: string, input: { file: string, pointer?: string } }} */
  (JSON.parse(readFileSync(0, "utf8")));
process.stdout.write(JSON.stringify(query(input.file, input.pointer ?? "")));

/** @param {string} file @param {string} pointer */
function query(file, pointer) {
  /** @type {unknown} */
  let value;
  try {
    const path = realpathSync(resolve(cwd, file));
    const inside = relative(realpathSync(cwd), path);
    // The links are resolved: what is judged here is what is opened.
    if (inside.split("/").some((segment) => segment.startsWith("."))) {
      return failed("not_allowed", `${file} is hidden or outside the project.`);
    }
    const stats = statSync(path);
    if (!stats.isFile()) return failed("not_a_file", `${file} is not a regular file.`);
    if (stats.size > MAX_BYTES) return failed("too_large", `${file} has more than 64 MiB.`);
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return failed("unreadable", `${file} cannot be read as JSON: ${String(error)}`);
  }
  const steps = pointer.split("/").slice(1);
  for (const [index, escaped] of steps.entries()) {
    const step = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, step);
    if (!isThere) {
      const place = steps.slice(0, index).map((name) => `/${name}`);
      return failed(
        "not_there",
        `${JSON.stringify(step)} is not in ${outline(value)} at "${place.join("")}".`,
      );
    }
    value = /** @type {Record<string, unknown>} */ (value)[step];
  }
  const text = JSON.stringify(value);
  const shown = text.length > MAX_SHOWN ? outline(value) : text;
  return { ok: true, summary: outline(value), content: [{ type: "text", text: shown }] };
}

/** @param {unknown} value */
function outline(value) {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== "object" || value === null)
    return `a ${value === null ? "null" : typeof value}`;
  const keys = Object.keys(value);
  const more = keys.length > 50 ? `, and ${keys.length - 50} more` : "";
  return `an object with the keys ${keys.slice(0, 50).join(", ") || "(none)"}${more}`;
}

/** @param {string} code @param {string} message */
function failed(code, message) {
  return { ok: false, error: { code, message, recovery: "change_arguments" } };
}
