// Several processes on one store: what one of them suffers does not touch the others, a session has one holder, and
// what a reader sees is never half of a step.

import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifies } from "#laws";
import { isTerminalFact } from "@soong/core";
import { openStore } from "@soong/store";
import { checkArtifacts } from "./check-home.ts";
import { checkSession } from "./check-session.ts";
import { SAYS, TURN_NAMES, type CrashTask, type Kill } from "./crash-job.ts";
import { randomNumbers } from "./random-numbers.ts";
import {
  makeCrashPlace,
  openRuntimes,
  type RuntimeProcess,
  type Runtimes,
} from "./runtime-process.ts";
import { addReport, instantsOf, nothingReported } from "./reported.ts";
import { makeProject } from "./work-effects.ts";
import { MAIN_AGENT } from "./work.ts";

const repeats = Math.ceil(Number(process.env["SOONG_TEST_CRASH_ROUNDS"] ?? 1) / 50);
const timeout = 120_000 * repeats;

let runtimes: Runtimes;
beforeAll(async () => {
  runtimes = await openRuntimes();
});
afterAll(() => runtimes.close(false));

test(
  "of four processes on one store two are killed, and the others continue undisturbed",
  async () => {
    verifies("STORE-3", "STORE-1", "EVENT-6");
    const random = randomNumbers(20_260_101);
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      const { home, folder } = await makeCrashPlace(runtimes.folder);
      const workers = await Promise.all(
        ["a", "b", "c", "d"].map(async (session_id, i) => {
          const isKilled = i % 2 === 1;
          const turns = random.shuffle(TURN_NAMES).slice(0, 3);
          const project = join(folder, session_id);
          await makeProject(project);
          const runtime = start(folder, home, session_id, {
            task: { kind: "work_to_the_end", turns },
            ...(isKilled ? { kill: { kind: "count", instants: random.between(5, 120) } } : {}),
          });
          return {
            isKilled,
            runtime,
            crashed: { home, project, session_id, reported: nothingReported() },
          };
        }),
      );
      for (const { runtime } of workers) await runtime.ended;
      for (const { runtime, isKilled, crashed } of workers) {
        addReport(crashed.reported, runtime.report());
        const recovered = await checkSession(crashed, `${crashed.session_id}-checked`);
        if (isKilled) continue;
        expect(instantsOf(runtime.report()).length).toBeGreaterThan(50);
        expect(recovered).toEqual({ unknown: [], skipped: [], runs: [] });
      }
      await checkArtifacts(home);
    }
  },
  timeout,
);

test(
  "a session is refused while its holder lives, and opens as soon as that was killed",
  async () => {
    verifies("STORE-3");
    const { home, folder } = await makeCrashPlace(runtimes.folder);
    const holder = start(folder, home, "held", { task: { kind: "open" } });
    expect(await holder.said(SAYS.ready)).toBe("said");
    const store = await openStore({ directory: home });
    const inUse = { code: "session_in_use", message: expect.stringContaining("in use") as string };
    await expect(store.openSession("held")).rejects.toMatchObject(inUse);
    await expect(store.removeSession("held")).rejects.toMatchObject(inUse);
    holder.kill();
    await holder.ended;
    const opened = await store.openSession("held");
    expect(opened.recovered).toEqual({ unknown: [], skipped: [], runs: [] });
    await store.close();
  },
  timeout,
);

test(
  "when the handler of a write begins, another process sees its start committed and no result",
  async () => {
    verifies("PIPE-3", "STORE-1");
    const calls = 5;
    const { home, folder } = await makeCrashPlace(runtimes.folder);
    const runtime = start(folder, home, "s", { task: { kind: "hold_in_handler", calls } });
    for (let i = 1; i <= calls; i += 1) {
      expect(await runtime.said(SAYS.held)).toBe("said");
      // Nothing can be written now: the thread of that process waits in the handler.
      const store = await openStore({ directory: home, readOnly: true });
      const reader = await store.readSession("s");
      const facts = await reader.facts({ tool_call_id: `held-${i}` });
      const types = facts.map(({ type }) => type);
      expect(types.at(-1)).toBe("tool.started");
      expect(types[0]).toBe("tool.requested");
      const [requested] = facts.map(({ data }) => data as { node_id?: string });
      expect(requested?.node_id).toBeDefined();
      expect(await reader.node(requested?.node_id ?? "")).toBeUndefined();
      expect(
        (await reader.calls()).filter(({ ended_seq }) => ended_seq !== undefined),
      ).toHaveLength(i - 1);
      await store.close();
      runtime.goOn();
    }
    expect(await runtime.said(SAYS.ready)).toBe("said");
  },
  timeout,
);

test(
  "a reader never sees a result without its node, a node without its result or a record without its bytes",
  async () => {
    verifies("PIPE-3", "STORE-1");
    const { home, folder } = await makeCrashPlace(runtimes.folder);
    await makeProject(join(folder, "s"));
    const runtime = start(folder, home, "s", {
      task: { kind: "work_to_the_end", turns: TURN_NAMES },
    });
    let isOver = false;
    void runtime.ended.then(() => {
      isOver = true;
    });
    expect(await runtime.said(SAYS.begun)).toBe("said");
    const store = await openStore({ directory: home });
    let looks = 0;
    let results = 0;
    for (let after = 0; ;) {
      const wasOver = isOver;
      const [session] = await store.sessions();
      if (session !== undefined) {
        const reader = await store.readSession("s");
        // The node first: had it been committed before its fact, that could still be missing.
        const newest = (await reader.activePath(MAIN_AGENT)).at(-1);
        if (newest !== undefined) {
          const facts = await reader.facts({ tool_call_id: newest.tool_call_id ?? "" });
          expect(facts.some(isTerminalFact)).toBe(true);
        }
        for (const { artifact_id, size } of await reader.artifacts()) {
          expect((await reader.readArtifact(artifact_id))?.length).toBe(size);
        }
        for (const fact of await reader.facts({ after })) {
          after = fact.seq;
          if (!isTerminalFact(fact)) continue;
          results += 1;
          const { node_id } = fact.data as { node_id: string };
          expect((await reader.node(node_id))?.tool_call_id).toBe(fact.tool_call_id);
        }
      }
      looks += 1;
      if (wasOver) break;
      await nextTurn();
    }
    await store.close();
    expect(looks).toBeGreaterThan(1);
    expect(results).toBeGreaterThan(20);
  },
  timeout,
);

function start(
  folder: string,
  home: string,
  session_id: string,
  how: { task: CrashTask; kill?: Kill },
): RuntimeProcess {
  const mark = how.task.kind === "hold_in_handler" ? "held" : session_id;
  const report = join(folder, `${session_id}.report`);
  return runtimes.start({
    home,
    project: join(folder, session_id),
    session_id,
    report,
    mark,
    ...how,
  });
}
