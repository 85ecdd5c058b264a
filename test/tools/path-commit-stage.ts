// The stage of the commit tests: a project, a place outside it that must stay as it is, locks, and another
// program that acts between the check and the rename.

import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ToolFailure } from "@soong/core";
import type { FileCommit } from "../../packages/tools/src/path/index.ts";
import {
  type Opening,
  openingByHandle,
  openingByName,
} from "../../packages/tools/src/path/pinned-node.ts";

/** Every way of opening that this platform has. */
export const OPENINGS: readonly (readonly [string, Opening])[] =
  process.platform === "linux"
    ? [
        ["by name", openingByName],
        ["through handles", openingByHandle],
      ]
    : [["by name", openingByName]];

export interface CommitStage {
  readonly folder: string;
  readonly outside: string;
  readonly lockDirectory: string;
  commitOf(path: string, text: string, options?: Partial<FileCommit>): FileCommit;
  /** Fails when anything outside was touched. */
  remove(): void;
}

export function commitStage(): CommitStage {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "soong-commit-")));
  const [folder, outside] = [join(top, "project"), join(top, "outside")];
  const lockDirectory = join(top, "locks");
  mkdirSync(folder);
  mkdirSync(outside);
  writeFileSync(join(outside, "secret"), "secret");
  return {
    folder,
    outside,
    lockDirectory,
    commitOf(path, text, options = {}) {
      const bytes = Buffer.from(text);
      return { path, bytes, expected: null, createDirs: false, lockDirectory, ...options };
    },
    remove() {
      const names = readdirSync(outside).join();
      const text = contentOf(join(outside, "secret"));
      rmSync(top, { recursive: true });
      if (names !== "secret" || text !== "secret") {
        throw new Error(`Outside there is ${names} now, and the secret says ${text}.`);
      }
    },
  };
}

/** The target's directory is looked at twice: when it is opened, and again right before the rename. */
export function beforeRename(opening: Opening, path: string, happens: () => void): Opening {
  return {
    pin(name, judged) {
      const node = opening.pin(name, judged);
      let looks = 0;
      return {
        ...node,
        isAtJudgedPath() {
          looks += 1;
          if (judged === dirname(path) && looks === 2) {
            happens();
          }
          return node.isAtJudgedPath();
        },
      };
    },
  };
}

export async function refusal(work: Promise<unknown>): Promise<ToolFailure["error"]> {
  const error: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error instanceof ToolFailure) {
    return error.error;
  }
  throw new Error("It was not refused, or not by a ToolFailure.", { cause: error });
}

export function contentOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
