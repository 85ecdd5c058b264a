// Texts that no column of PostgreSQL takes, and what is too large for it: kept as they are, or refused for their session alone.

import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createFactWriter } from "../../../packages/store/conformance/fact-writer.ts";
import { usePostgres } from "../../postgres/shared.ts";
import { ask, refusal, storeAt } from "./postgres-stage.ts";

const HOSTILE = 'a\0b \ud800 \udfff "c" \\u0000 {d,NULL} \u{1f600}';

test("NUL and half characters survive in facts, nodes, titles, calls and artifacts", async () => {
  verifies("STORE-1", "EVENT-6");
  const store = await storeAt(await usePostgres());
  const session = await store.createSession({ session_id: "s1", title: HOSTILE });
  const pen = createFactWriter(session);
  const run = { run_id: "r1", agent_id: "a1" };
  const tool_call_id = HOSTILE;
  pen.add({ ...run, type: "run.started", run_seq: 1 });
  pen.add(
    { ...run, type: "tool.requested", run_seq: 2, tool_call_id, data: { tool_name: HOSTILE } },
    [pen.node({ node_id: "n1" }, HOSTILE)],
  );
  const { artifact_id } = await session.artifacts.write(HOSTILE, {
    session_id: "s1",
    run_id: HOSTILE,
    tool_call_id,
    media_type: "text/plain",
    name: HOSTILE,
  });
  await session.journal.flush();
  const facts = await session.reader.facts();
  expect(facts[1]).toMatchObject({ tool_call_id, data: { tool_name: HOSTILE } });
  expect(await session.reader.facts({ tool_call_id })).toHaveLength(1);
  expect(await session.reader.node("n1")).toMatchObject({ content: [{ text: HOSTILE }] });
  expect(await session.reader.artifacts()).toMatchObject([
    { artifact_id, tool_call_id, run_id: HOSTILE, name: HOSTILE },
  ]);
  expect((await store.sessions())[0]?.title).toBe(HOSTILE);
  await session.close();
  expect(await store.verify("s1")).toMatchObject({ ok: true });
  const again = await store.openSession("s1");
  expect(await again.artifacts.stat(artifact_id)).toMatchObject({ name: HOSTILE });
});

test("an answer with NUL and half characters can be used, and what was typed is dropped", async () => {
  verifies("PERM-20");
  const store = await storeAt(await usePostgres());
  await store.createSession({ session_id: "s1" });
  const questions = store.questions();
  await questions.ask({
    session_id: "s1",
    question_id: "q1",
    run_id: "r1",
    agent_id: "a1",
    tool_call_id: HOSTILE,
    kind: "elicitation",
    tool_name: HOSTILE,
    digest: "d1",
    asked_at: "2026-01-02T03:04:05.678Z",
    request: { text: HOSTILE },
  });
  const answer = { action: "accept", note: HOSTILE, content: { text: HOSTILE } };
  const answered = { answer, answered_by: HOSTILE, answered_at: "2026-01-02T03:04:06.678Z" };
  expect(await questions.answer("s1", "q1", answered)).toMatchObject({ taken: true });
  await questions.settle("s1", "q1", "used");
  const kept = await questions.get("s1", "q1");
  expect(kept).toMatchObject({ state: "used", answered_by: HOSTILE });
  expect(kept?.answer).toEqual({ action: "accept", note: HOSTILE });
});

test("what PostgreSQL can never take is refused for its session, and the others continue", async () => {
  verifies("STORE-1");
  const url = await usePostgres();
  const store = await storeAt(url);
  const [refused, kept] = [await store.createSession(), await store.createSession()];
  await ask(
    url,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NEW.line LIKE '%too large%' THEN RAISE EXCEPTION 'row is too big' USING ERRCODE = '54000'; END IF;
       RETURN NEW; END $$;
     CREATE TRIGGER refuses BEFORE INSERT ON soong.facts FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  const pen = createFactWriter(refused);
  pen.add({ data: { text: "too large" } });
  expect(await refusal(() => refused.journal.flush())).toMatchObject({
    code: "entry_refused",
    message: expect.stringMatching(/row is too big/) as string,
  });
  expect((await refusal(() => pen.add())).code).toBe("entry_refused");
  createFactWriter(kept).add();
  await kept.journal.flush();
  await refused.close();
  expect(await store.verify(refused.session_id)).toMatchObject({ ok: true, facts: 0 });
});

test("an artifact of which another process left some parts is whole", async () => {
  verifies("ART-1");
  const url = await usePostgres();
  const store = await storeAt(url);
  const session = await store.createSession({ session_id: "s1" });
  const bytes = Buffer.alloc(700_000, "content ");
  const about = { session_id: "s1", run_id: "r1", media_type: "text/plain" };
  const { artifact_id } = await session.artifacts.write(bytes, about);
  await session.journal.flush();
  await ask(url, "DELETE FROM soong.artifact_parts WHERE part = 0");
  const second = await session.artifacts.write(bytes, about);
  for (const id of [artifact_id, second.artifact_id]) {
    expect(Buffer.compare((await session.artifacts.read(id)) ?? new Uint8Array(), bytes)).toBe(0);
  }
});
