// The pins in a file of the user's home (MCP-7): readable by its owner alone, and whole at any moment.

import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "@soong/core";
import type { PinStorage } from "../catalog/index.ts";

export function openPinFile(path: string): PinStorage {
  return {
    async load() {
      let text: string;
      try {
        text = await readFile(path, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
      }
      try {
        return JSON.parse(text) as unknown;
      } catch (error) {
        throw new Error(
          `${path} is not JSON (${messageOf(error)}). It holds which definitions of MCP tools were allowed; delete it to begin anew`,
          { cause: error },
        );
      }
    },
    async save(pins) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const next = `${path}.${randomUUID()}`;
      try {
        const file = await open(next, "wx", 0o600);
        try {
          await file.writeFile(`${JSON.stringify(pins, undefined, 1)}\n`);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(next, path);
      } catch (error) {
        await rm(next, { force: true });
        throw new Error(`${path} cannot be written: ${messageOf(error)}`, { cause: error });
      }
    },
  };
}
