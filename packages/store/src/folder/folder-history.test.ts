import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { Fact } from "@soong/core";
import { anyCharacter } from "../../../../test/any-character.ts";
import type { CrashPoint } from "../contract/store-error.ts";
import { openRunFolders } from "./run-folders.ts";
import type { CommittedFact, ReadFacts } from "./line-file.ts";

// After any events between batches, the files are those that one rebuild would write.

const FILES = ["events.jsonl", "logs/tools.jsonl", "logs/errors.jsonl"] as const;
const RUNS = ["run_a", "Run/B", undefined] as const;
const IS_FULL = process.env["SOONG_TEST_FULL"] === "1";

type Step =
  | { readonly do: "append"; readonly count: number }
  | { readonly do: "crash"; readonly count: number; readonly at: CrashPoint }
  | { readonly do: "cut"; readonly run: number; readonly file: number; readonly keep: number }
  | { readonly do: "reopen" };

const text = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: anyCharacter, maxLength: 30 }) },
  { weight: 1, arbitrary: fc.constantFrom(4095, 4096, 4097).map((length) => "é".repeat(length)) },
  { weight: 1, arbitrary: fc.constant("😀\n".repeat(2000)) },
);

const aboutFact = fc.record({
  run_id: fc.constantFrom(...RUNS),
  level: fc.constantFrom("info" as const, "error" as const),
  data: fc.record({ message: text, list: fc.array(text, { maxLength: 2 }) }),
});

const aboutCall = fc.record({
  run_id: fc.constantFrom(...RUNS),
  type: fc.constantFrom("tool.completed" as const, "tool.failed" as const),
  tool_call_id: fc.constant("call"),
  tool_name: fc.constant("core.bash"),
  data: fc.record({
    result: fc.record({
      status: fc.constantFrom("succeeded", "failed", "unknown"),
      is_error: fc.boolean(),
      summary: text,
      metadata: fc.record({ duration_ms: fc.constantFrom(1, Number.NaN, undefined) }),
    }),
  }),
});

const someFacts = fc
  .array(fc.oneof(aboutFact, aboutCall), { minLength: 1, maxLength: 30 })
  .map((all) => all.map((about, i) => committed(i + 1, about)));

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant("append" as const), count: fc.nat(8) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("crash" as const),
        count: fc.nat(8),
        at: fc.constantFrom(
          "folder.before" as const,
          "folder.events" as const,
          "folder.after" as const,
        ),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("cut" as const),
        run: fc.nat(1),
        file: fc.nat(2),
        keep: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ do: "reopen" as const }) },
  ),
  { maxLength: 10 },
);

test("batches, crashes and cuts at any byte give what one rebuild gives", () => {
  verifies("EVENT-5");
  fc.assert(fc.property(someFacts, steps, fc.integer({ min: 1, max: 9 }), holds), {
    numRuns: IS_FULL ? 5000 : 40,
  });
});

test("so they do in a run whose logs have checkpoints", () => {
  verifies("EVENT-5");
  const bigSteps = steps.map((all) =>
    all.map((step) => ("count" in step ? { ...step, count: step.count * 40 } : step)),
  );
  const manyFacts = fc.array(fc.nat(40), { minLength: 600, maxLength: 900 }).map((kinds) =>
    kinds.map((kind, i) => {
      const run_id = kind % 10 === 0 ? RUNS[1] : RUNS[0];
      const level = kind === 1 ? ("error" as const) : ("info" as const);
      const type = kind < 3 ? ("tool.failed" as const) : ("tool.progress" as const);
      return committed(i + 1, { run_id, level, type, data: { text: "x".repeat(4000) } });
    }),
  );
  fc.assert(fc.property(manyFacts, bigSteps, fc.constant(250), holds), {
    numRuns: IS_FULL ? 300 : 8,
    // Megabytes of facts take minutes to shrink; the test above shows the same in small.
    endOnFailure: true,
  });
});

function holds(facts: readonly CommittedFact[], history: readonly Step[], pageSize: number): void {
  const base = mkdtempSync(join(tmpdir(), "soong-folder-"));
  try {
    let crashAt: CrashPoint | undefined;
    const open = () =>
      openRunFolders({
        directory: join(base, "runs"),
        at(point) {
          if (point === crashAt) throw new Error("crash");
        },
      });
    let folders = open();
    let done = 0;
    const catchUp = () => {
      for (const run_id of runsIn(facts.slice(0, done))) {
        folders.catchUp(run_id, pagesOf(facts.slice(0, done), run_id, pageSize));
      }
    };
    for (const step of [...history, { do: "append" as const, count: facts.length }]) {
      if (step.do === "append") {
        folders.append(facts.slice(done, done + step.count));
        done = Math.min(facts.length, done + step.count);
      } else if (step.do === "crash") {
        crashAt = step.at;
        const batch = facts.slice(done, done + step.count);
        done += batch.length;
        try {
          folders.append(batch);
        } catch {
          folders.close();
          folders = open();
        }
        crashAt = undefined;
        catchUp();
      } else if (step.do === "cut") {
        const [run_id = ""] = [RUNS[step.run]];
        const path = join(folders.pathOf(run_id), FILES[step.file] ?? "");
        const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
        if (size > 0) truncateSync(path, Math.floor(size * step.keep));
        catchUp();
      } else {
        folders.close();
        folders = open();
      }
    }
    expect(folders.problems()).toEqual([]);
    const fresh = openRunFolders({ directory: join(base, "fresh") });
    for (const run_id of runsIn(facts)) {
      const rebuilt = fresh.rebuild(run_id, pagesOf(facts, run_id, facts.length));
      for (const name of FILES) {
        const isSame = read(folders.pathOf(run_id), name).equals(read(rebuilt, name));
        expect({ name, isSame }).toEqual({ name, isSame: true });
      }
    }
    folders.close();
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function committed(seq: number, about: Partial<Record<keyof Fact, unknown>>): CommittedFact {
  const fact = {
    id: `f${seq}`,
    seq,
    type: "tool.progress",
    time: `t${seq}`,
    level: "info",
    session_id: "s",
    ...about,
  } as Fact;
  return { fact, line: JSON.stringify(fact) };
}

/** As the store gives them: facts parsed from their lines. */
function pagesOf(facts: readonly CommittedFact[], run_id: string, limit: number): ReadFacts {
  const own = facts.filter(({ fact }) => fact.run_id === run_id);
  return (after) =>
    own
      .filter(({ fact }) => fact.seq > after)
      .slice(0, limit)
      .map(({ line }) => ({ line, fact: JSON.parse(line) as Fact }));
}

function runsIn(facts: readonly CommittedFact[]): Set<string> {
  return new Set(facts.flatMap(({ fact }) => fact.run_id ?? []));
}

function read(path: string, name: string): Buffer {
  return readFileSync(join(path, name));
}
