// Ends from outside (PIPE-7, LOOP-2): aborts at every moment, interrupts, and a journal that fails.

import { defineTool, type HeldClock, type JournalEntry } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { calls, done, openStage, says, texts } from "./loop-stage.ts";
import { ALLOW_ALL, readTool, slowTool, writeTool } from "./loop-tools.ts";

test("an abort while the model streams keeps what it had said and asked for", async () => {
  verifies("LOOP-1", "PIPE-7");
  const clock = (): HeldClock => stage.clock;
  const stage = await openStage(
    [
      [says("Half an ans"), calls("a__slow", {}, "1"), { wait: 1e6 }, done()],
      [says("ok"), done()],
    ],
    { tools: [slowTool(clock, "a.slow", 1e6)] },
  );
  const run = stage.conversation.send("go");
  await stage.clock.advance(100);
  const aborted = run.abort("enough");
  await stage.clock.advance(5000);
  await aborted;
  expect(await run.end).toMatchObject({
    reason: "aborted_streaming",
    error: { code: "aborted", message: "The run was aborted: enough" },
  });
  expect(stage.facts("run.aborted")[0]?.data).toMatchObject({ reason: "aborted_streaming" });
  await stage.ask("and now?");
  const [, answer, results, next] = texts(stage.model.requests[1]?.messages ?? []);
  expect(answer).toBe("assistant: Half an ans<a__slow>");
  expect(results).toContain("The run was aborted: enough");
  expect(next).toBe("user: and now?");
});

test("an abort that comes from another run's is not said to be one twice, and a reason is kept as given", async () => {
  verifies("PIPE-7", "AGENT-5");
  const clock = (): HeldClock => stage.clock;
  let seen: unknown;
  const passesOn = defineTool({
    ...slowTool(clock, "a.slow", 1e6),
    handler: (_input, { signal }) =>
      new Promise<string>((resolve) => {
        signal.addEventListener("abort", () => {
          seen = signal.reason;
          resolve("stopped");
        });
      }),
  });
  const stage = await openStage([[calls("a__slow", {}, "1"), done("tool_use")]], {
    tools: [passesOn],
  });
  const run = stage.conversation.send("go");
  await stage.clock.advance(100);
  const given = "The run was aborted: they say";
  const aborted = run.abort(given);
  await stage.clock.advance(5000);
  await aborted;
  const message = `The run was aborted: ${given}`;
  expect(await run.end).toMatchObject({ error: { message } });
  expect(stage.facts("tool.failed")[0]?.data.result).toMatchObject({ error: { message } });
  // What a tool that has started another run aborts that with.
  expect(seen).toMatchObject({ message: given });
});

test("an abort while calls run ends them as aborted and the run as aborted_tools", async () => {
  verifies("LOOP-1", "PIPE-7", "LOOP-2");
  const clock = (): HeldClock => stage.clock;
  const stage = await openStage([[calls("a__slow", {}, "1"), done("tool_use")]], {
    tools: [slowTool(clock, "a.slow", 1e6)],
  });
  const run = stage.conversation.send("go");
  await stage.clock.advance(100);
  const aborted = run.abort("enough");
  await stage.clock.advance(5000);
  await aborted;
  const end = await run.end;
  expect(end).toMatchObject({ reason: "aborted_tools", turns: 1 });
  expect(stage.facts("tool.failed")[0]?.data.result).toMatchObject({
    status: "aborted",
    is_error: true,
    metadata: { aborted: true, partial: true },
  });
  const types = stage.story("tool.failed", "run.aborted");
  expect(types).toEqual(["tool.failed", "run.aborted"]);
  expect(stage.clock.pending).toBe(1); // the handler's own timer, which no one listens to
});

test("an abort waits no longer than its bound for a model that does not listen", async () => {
  verifies("LOOP-2");
  const stage = await openStage([[() => new Promise<void>(() => {})]]);
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  await Promise.all([run.abort("enough"), stage.clock.settle()]);
  expect(await run.end).toMatchObject({ reason: "aborted_streaming" });
  expect(await stage.conversation.send("next").abort("too")).toBeUndefined();
});

test("a queued run that is aborted never starts, and the one after it does", async () => {
  verifies("LOOP-2");
  const stage = await openStage([
    [{ wait: 5000 }, says("one"), done()],
    [says("three"), done()],
  ]);
  const first = stage.conversation.send("1");
  const second = stage.conversation.send("2");
  const third = stage.conversation.send("3");
  await second.abort("not needed");
  expect(await second.end).toMatchObject({ reason: "aborted_streaming", turns: 0 });
  expect((await stage.finish(third)).answer).toBe("three");
  expect((await first.end).answer).toBe("one");
  const [aborted] = stage.facts("run.aborted");
  expect(aborted?.run_id).toBe(await second.run_id);
});

test("what is said about a run that never began is on record without secrets", async () => {
  verifies("REDACT-1");
  const secret = "5up3r-s3cr3t-value";
  const stage = await openStage([[{ wait: 1000 }, says("one"), done()]], {
    sessionOptions: { secrets: [{ name: "KEY", value: secret }] },
  });
  const first = stage.conversation.send("1");
  await stage.conversation.send("2").abort(`no ${secret}`);
  await stage.finish(first);
  expect(JSON.stringify(stage.journal.facts)).not.toContain(secret);
  expect(stage.facts("error")[0]?.data.message).toContain("no [redacted:KEY]");
});

test("closing a conversation aborts all of it", async () => {
  verifies("LOOP-2");
  const stage = await openStage([[{ wait: 1e6 }, done()]]);
  const runs = [stage.conversation.send("1"), stage.conversation.send("2")];
  await stage.clock.settle();
  await Promise.all([stage.conversation.close(), stage.clock.settle()]);
  for (const run of runs) expect((await run.end).reason).toBe("aborted_streaming");
  expect(stage.clock.pending).toBe(0);
});

test("new input ends calls that may be cancelled, lets others finish, and joins the next request", async () => {
  verifies("PIPE-7", "PIPE-4");
  const clock = (): HeldClock => stage.clock;
  const written: string[] = [];
  const stage = await openStage(
    [
      [
        calls("a__slow", {}, "1"),
        calls("b__block", {}, "2"),
        calls("c__write", {}, "3"),
        done("tool_use"),
      ],
      [says("ok"), done()],
    ],
    {
      tools: [
        slowTool(clock, "a.slow", 1e6),
        slowTool(clock, "b.block", 3000, "block"),
        writeTool("c.write", written),
      ],
      run: { policy: ALLOW_ALL },
    },
  );
  const run = stage.conversation.send("go");
  await stage.clock.advance(100);
  expect(run.interrupt("wait, do this instead")).toBe(true);
  expect(await stage.finish(run)).toMatchObject({ reason: "completed", answer: "ok" });
  expect(run.interrupt("too late")).toBe(false);
  expect(written).toEqual([]);
  const [, , tool, user] = texts(stage.model.requests[1]?.messages ?? []);
  expect(tool).toContain("Interrupted");
  expect(tool).toContain("b.block took 3000 ms");
  expect(tool).toContain("was not started");
  expect(user).toBe("user: wait, do this instead");
});

test("queued input touches no call, joins the next request in order, and can be taken back until then", async () => {
  verifies("PIPE-7");
  const clock = (): HeldClock => stage.clock;
  const written: string[] = [];
  const stage = await openStage(
    [
      [calls("a__slow", {}, "1"), calls("c__write", {}, "2"), done("tool_use")],
      [says("ok"), done()],
    ],
    {
      tools: [slowTool(clock, "a.slow", 3000), writeTool("c.write", written)],
      run: { policy: ALLOW_ALL },
    },
  );
  const run = stage.conversation.send("go");
  await stage.clock.advance(100);
  const [first, second] = [run.queue("one"), run.queue("two")];
  run.queue([
    { type: "text", text: "three" },
    { type: "image", data: "aGk=", media_type: "image/png" },
  ]);
  expect(run.queue(" ")).toBeUndefined();
  expect([second?.takeBack(), second?.takeBack()]).toEqual([true, false]);
  expect(await stage.finish(run)).toMatchObject({ reason: "completed", answer: "ok" });
  expect(run.queue("too late")).toBeUndefined();
  expect(first?.takeBack()).toBe(false);
  expect(written).toEqual(["{}"]);
  const [, , tool, ...users] = texts(stage.model.requests[1]?.messages ?? []);
  expect(tool).toContain("a.slow took 3000 ms");
  expect(users.join()).toMatch(/^user: one,?.*three/s);
  const heard = [];
  for await (const event of run.events()) if (event.type === "input") heard.push(event.text);
  expect(heard).toEqual(["one", "three"]);
});

test("input that comes while the model finishes keeps the run going", async () => {
  verifies("PIPE-7");
  const stage = await openStage([
    [says("one"), { wait: 100 }, done()],
    [says("two"), done()],
  ]);
  const run = stage.conversation.send("go");
  await stage.clock.advance(50);
  run.interrupt("also this");
  expect(await stage.finish(run)).toMatchObject({ reason: "completed", answer: "two", turns: 2 });
  expect(texts(stage.model.requests[1]?.messages ?? []).at(-1)).toBe("user: also this");
});

test("input no request has held is given back", async () => {
  verifies("PIPE-7");
  const stage = await openStage([[says("one"), { wait: 100 }, done("max_tokens")]]);
  const run = stage.conversation.send("go");
  await stage.clock.advance(50);
  run.interrupt("also this");
  expect(await stage.finish(run)).toMatchObject({
    reason: "max_output_tokens",
    unheard: ["also this"],
  });
});

test("wherever the journal fails, the run ends as failed, nothing more is executed and nothing hangs", async () => {
  verifies("LOOP-1", "PIPE-3");
  const script = [
    [says("x"), calls("a__read", {}, "1"), done("tool_use")],
    [calls("a__write", {}, "2"), done("tool_use")],
    [says("ok"), done()],
  ];
  const play = async (
    breaks: (entry: JournalEntry, index: number) => boolean,
  ): Promise<{ reason: string; code: string | undefined; written: number; entries: number }> => {
    const written: string[] = [];
    let broken = false;
    const stage = await openStage(script, {
      tools: [readTool("a.read", () => "x"), writeTool("a.write", written)],
      run: { policy: ALLOW_ALL },
      spy: {
        onAppend(entry, index) {
          broken ||= breaks(entry, index);
          if (broken) throw new Error("disk full");
        },
      },
    });
    const end = await stage.ask("go");
    const entries = stage.journal.entries.length;
    expect(stage.clock.pending).toBe(0);
    // Whatever is sent next ends too, and is not queued for ever behind it.
    if (broken) expect((await stage.ask("again")).reason).toBe("failed");
    return { reason: end.reason, code: end.error?.code, written: written.length, entries };
  };
  const whole = await play(() => false);
  expect(whole).toMatchObject({ reason: "completed", written: 1 });
  // The first entry is the session's own.
  for (let at = 1; at < whole.entries; at += 1) {
    const { reason, code, entries } = await play((_, index) => index === at);
    expect({ reason, code, entries }).toEqual({
      reason: "failed",
      code: "journal_unavailable",
      entries: at,
    });
  }
  const beforeWrite = await play(({ facts }) =>
    facts.some(({ type, tool_name }) => type === "tool.started" && tool_name === "a.write"),
  );
  expect(beforeWrite).toMatchObject({ reason: "failed", written: 0 });
});
