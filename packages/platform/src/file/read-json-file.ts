// A file of ours, as JSON. That there is none is an answer; that it cannot be read is not.

import { readFile } from "node:fs/promises";
import { messageOf } from "@soong/core";

/** `about` says what the file holds, and what to do when it is broken. */
export async function readJsonFile(path: string, about: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // What the parser says would show a piece of the file.
    throw new Error(`${path} is not JSON. ${about}`);
  }
}
