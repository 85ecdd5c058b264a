// Tells those who do not look at the list of questions that there is a new one, in words that are read out.

import { useEffect, useRef } from "preact/hooks";
import { keyOf } from "../questions/shown-questions.ts";
import { useStore } from "../state/use-store.ts";
import { useInspector } from "./context.ts";

export function NewQuestions() {
  const { home, announce } = useInspector();
  const questions = useStore(home, (home) => home?.questions);
  const known = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (questions === undefined) return;
    const fresh = questions.filter((question) => !known.current.has(keyOf(question)));
    known.current = new Set(questions.map(keyOf));
    const [first] = fresh;
    if (first === undefined) return;
    announce(
      fresh.length === 1
        ? `${first.request.tool_name} waits for your answer. Press q for the questions.`
        : `${fresh.length} calls wait for your answer. Press q for the questions.`,
    );
  }, [questions]);
  return null;
}
