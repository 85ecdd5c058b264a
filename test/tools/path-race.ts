// A stage on which a second process swaps what was judged for a link that leads out, between any two steps
// of ours, and the count of what came of many attempts.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolFailure } from "@soong/core";
import { expect } from "vitest";
import { type SecondProcesses, secondProcesses, type Swapped } from "./path-second-process.ts";

export interface SwapStage {
  readonly second: SecondProcesses;
  /** project/dir, with a file that says "inside" */
  readonly directory: string;
  readonly file: string;
  /** A pause is at most this long, mostly far shorter; both states last one. */
  swap(what: Swapped, pauseMs: number): Promise<void>;
  expectOutsideUntouched(): void;
}

export async function swapStage(): Promise<SwapStage> {
  const second = await secondProcesses();
  const directory = join(second.folder, "project/dir");
  const file = join(directory, "file");
  const outside = join(second.folder, "outside");
  mkdirSync(directory, { recursive: true });
  mkdirSync(outside);
  writeFileSync(file, "inside");
  writeFileSync(join(outside, "file"), "outside");
  return {
    second,
    directory,
    file,
    async swap(what, pauseMs) {
      const place = { file, directory, missing: join(directory, "a") }[what];
      const target = what === "file" ? join(outside, "file") : outside;
      await second.swapper(what, place, target, pauseMs).said("swapping");
    },
    expectOutsideUntouched() {
      expect(readdirSync(outside)).toEqual(["file"]);
      expect(readFileSync(join(outside, "file"), "utf8")).toBe("outside");
    },
  };
}

/** Continues until an attempt was done and another refused a few times each: else the race was none. */
export async function race(
  attempts: number,
  attempt: () => Promise<void>,
): Promise<{ done: number; refusals: string[] }> {
  const refusals = new Map<string, number>();
  let done = 0;
  let refused = 0;
  const isOneSided = (): boolean => done < FEW || refused < FEW;
  for (let count = 0; count < attempts || (isOneSided() && count < attempts * 50); count += 1) {
    try {
      await attempt();
      done += 1;
    } catch (error) {
      if (!(error instanceof ToolFailure)) {
        throw error;
      }
      refused += 1;
      refusals.set(error.error.code, (refusals.get(error.error.code) ?? 0) + 1);
    }
  }
  expect(isOneSided()).toBe(false);
  return { done, refusals: [...refusals.keys()] };
}

const FEW = 3;
