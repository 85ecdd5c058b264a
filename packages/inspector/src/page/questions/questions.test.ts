import { describe, expect, test } from "vitest";
import type { Question } from "../../wire/home-records.ts";
import { isDeliberate, READING_MS } from "./answer-guard.ts";
import { shownAddress } from "./elicitation-question.tsx";
import {
  findCurrent,
  isOver,
  stateAfterFailure,
  withQuestions,
  withState,
  writeQuestionKey,
} from "./shown-questions.ts";

function question(
  question_id: string,
  asked_at = "2026-01-01T10:00:00Z",
  session_id = "s",
): Question {
  return {
    question_id,
    session_id,
    pid: 7,
    project: "/p",
    asked_at,
    kind: "elicitation",
    request: { mode: "url", message: "m", url: "https://x", tool_name: "t", tool_call_id: "c" },
  };
}

describe("a deliberate answer", () => {
  test("comes after the question could be read", () => {
    expect(isDeliberate({ shown_at: 1000 }, 1000 + READING_MS - 1)).toBe(false);
    expect(isDeliberate({ shown_at: 1000 }, 1000 + READING_MS)).toBe(true);
  });

  test("by key comes also after it got the focus", () => {
    expect(isDeliberate({ shown_at: 0, focused_at: 5000 }, 5100)).toBe(false);
    expect(isDeliberate({ shown_at: 0, focused_at: 5000 }, 5000 + READING_MS)).toBe(true);
    expect(isDeliberate({ shown_at: 5000, focused_at: 0 }, 5100)).toBe(false);
  });

  test("is never of a clock set back", () => {
    expect(isDeliberate({ shown_at: 5000 }, 10)).toBe(false);
  });
});

describe("the questions that are shown", () => {
  const live = () => true;

  test("are in the order they were asked, and stay the same list when nothing is new", () => {
    const late = question("b", "2026-01-01T10:00:02Z");
    const early = question("a", "2026-01-01T10:00:01Z");
    const shown = withQuestions([], [late, early], live);
    expect(shown.map(({ question }) => question.question_id)).toEqual(["a", "b"]);
    expect(withQuestions(shown, [early, late], live)).toBe(shown);
  });

  test("are those of each session, even under one id", () => {
    const shown = withQuestions([], [question("a"), question("a", undefined, "other")], live);
    expect(shown).toHaveLength(2);
    const answered = withState(shown, question("a", undefined, "other"), {
      is: "answered",
      answer: { decision: "deny" },
    });
    expect(answered.map(isOver)).toEqual([false, true]);
  });

  test("keep their places when they are settled", () => {
    let shown = withQuestions([], [question("a"), question("b"), question("c")], live);
    shown = withState(shown, question("b"), { is: "answered", answer: { decision: "allow_once" } });
    shown = withQuestions(shown, [question("c")], live);
    expect(shown.map(({ question, state }) => [question.question_id, state.is])).toEqual([
      ["a", "settled_elsewhere"],
      ["b", "answered"],
      ["c", "waiting"],
    ]);
  });

  test("say when the runtime went away", () => {
    const shown = withQuestions([], [question("a")], live);
    expect(withQuestions(shown, [], () => false)[0]?.state.is).toBe("gone");
  });

  test("are not settled by silence while an answer is on its way", () => {
    let shown = withQuestions([], [question("a")], live);
    shown = withState(shown, question("a"), { is: "sending", answer: { decision: "deny" } });
    expect(withQuestions(shown, [], live)).toBe(shown);
    expect(shown.map(isOver)).toEqual([false]);
  });

  test("can be answered again after a failure that settled nothing", () => {
    expect(stateAfterFailure("settled", "Bob did.")).toEqual({
      is: "settled_elsewhere",
      message: "Bob did.",
    });
    expect(stateAfterFailure("gone", "It ended.").is).toBe("gone");
    expect(stateAfterFailure("unreachable", "No answer.")).toEqual({
      is: "waiting",
      problem: "No answer.",
    });
  });
});

describe("an address", () => {
  test("shows its host separately, after any prefix", () => {
    expect(shownAddress("https://bank.example@evil.example/x?y#z")).toEqual({
      ok: true,
      href: "https://bank.example@evil.example/x?y#z",
      before: "https://bank.example@",
      host: "evil.example",
      after: "/x?y#z",
    });
    expect(shownAddress("https://a:secret@h/")).toMatchObject({ before: "https://a:…@" });
    const foreign = shownAddress("https://bаnk.example/");
    expect(foreign.ok && foreign.host).toMatch(/^xn--/);
  });

  test("is opened only as a page", () => {
    for (const text of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "no"]) {
      expect(shownAddress(text).ok).toBe(false);
    }
  });
});

describe("the question that is shown", () => {
  const shown = withQuestions([], [question("a"), question("b"), question("c")], () => true);
  const over = (id: string, of = shown) =>
    withState(of, question(id), { is: "answered", answer: { decision: "deny" } });
  const current = (of: typeof shown, chosen?: string) =>
    findCurrent(of, chosen && writeQuestionKey(question(chosen)))?.question.question_id;

  test("is the first, or the one that was chosen", () => {
    expect(current(shown)).toBe("a");
    expect(current(shown, "b")).toBe("b");
    expect(current(shown, "gone")).toBe("a");
  });

  test("is the next one once it is over, then the one before, then none", () => {
    expect(current(over("b"), "b")).toBe("c");
    expect(current(over("c", over("b")), "b")).toBe("a");
    expect(current(over("a", over("c", over("b"))), "b")).toBeUndefined();
  });
});
