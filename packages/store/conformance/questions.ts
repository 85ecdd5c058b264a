// Questions outlive the runtime that asked them, and are answered once (PERM-20).

import assert from "node:assert/strict";
import type { NewQuestion, QuestionAnswer } from "@soong/store";
import { storeCheck } from "./check.ts";

const LAWS = ["PERM-20"];

const QUESTION: NewQuestion = {
  session_id: "s",
  question_id: "ask_1",
  run_id: "run_1",
  agent_id: "agent_1",
  tool_call_id: "call_1",
  kind: "permission",
  tool_name: 'notes.\u0000"write',
  digest: "sha256:1",
  asked_at: "2026-01-02T03:04:05.000Z",
  request: { tool_name: "notes.write", arguments: { text: "\u0000\ud800" } },
};

const YES: QuestionAnswer = {
  answer: { decision: "allow_once", content: { typed: "by the user" } },
  answered_by: "terminal",
  answered_at: "2026-01-02T03:04:06.000Z",
};

export const questions = [
  storeCheck("a question survives a crash, with all that was to be shown", LAWS, async (place) => {
    const first = await place.open();
    await first.createSession({ session_id: "s" });
    const asked = await first.questions().ask(QUESTION);
    assert.deepEqual(asked, { ...QUESTION, state: "open" }, "what is kept");
    await place.crash(first);
    const second = await place.open();
    assert.deepEqual(await second.questions().list(), [asked], "after the crash");
    assert.deepEqual(await second.questions().find(QUESTION), asked, "found by its plan");
    const other = await second.questions().find({ ...QUESTION, digest: "sha256:2" });
    assert.deepEqual(other, undefined, "another plan");
    const again = await second.questions().ask({ ...QUESTION, run_id: "run_2" });
    assert.deepEqual(again, asked, "asked again");
  }),

  storeCheck(
    "the first answer counts, and the second gets the name of who gave it",
    LAWS,
    async (place) => {
      const [one, two] = [await place.open(), await place.open()];
      await one.createSession({ session_id: "s" });
      await one.questions().ask(QUESTION);
      const no = { ...YES, answer: { decision: "deny" }, answered_by: "page" };
      const answers = await Promise.all([
        one.questions().answer("s", "ask_1", YES),
        two.questions().answer("s", "ask_1", no),
      ]);
      assert.deepEqual(answers.filter(({ taken }) => taken).length, 1, "taken");
      const [first, second] = answers.map(({ question }) => question?.answered_by);
      assert.deepEqual(first, second, "who answered");
      const found = await two.questions().find(QUESTION);
      assert.deepEqual(found?.state, "answered", "its state");
      await two.questions().settle("s", "ask_1", "used");
      assert.deepEqual(await one.questions().find(QUESTION), undefined, "once it is used");
      assert.deepEqual(
        (await one.questions().answer("s", "ask_1", YES)).taken,
        false,
        "a late answer",
      );
    },
  ),

  storeCheck(
    "what is settled is not shown any more, and goes with its session",
    LAWS,
    async (place) => {
      const store = await place.open();
      const session = await store.createSession({ session_id: "s" });
      for (const question_id of ["ask_1", "ask_2", "ask_3"]) {
        await store.questions().ask({ ...QUESTION, question_id });
      }
      await store.questions().answer("s", "ask_1", YES);
      await store.questions().settle("s", "ask_1", "used");
      const used = await store.questions().get("s", "ask_1");
      assert.deepEqual(used?.request, undefined, "the request of a used one");
      assert.deepEqual(used?.answer, { decision: "allow_once" }, "what stays of its answer");
      await store.questions().settle("s", "ask_2", "withdrawn");
      assert.deepEqual(
        (await store.questions().answer("s", "ask_2", YES)).taken,
        false,
        "a withdrawn one",
      );
      await store.questions().withdrawAll("s");
      assert.deepEqual(await store.questions().list("s"), [], "those that are left");
      await session.close();
      await store.removeSession("s");
      await store.createSession({ session_id: "t" });
      assert.deepEqual(
        await store.questions().get("s", "ask_1"),
        undefined,
        "of a removed session",
      );
    },
  ),
];
