// What calls for attention: the title of the tab, with how many questions wait, and words that are read out.

import { useEffect, useRef } from "preact/hooks";
import { visibleLine } from "@soong/core";
import { keyOf } from "../questions/shown-questions.ts";
import type { Route } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { useInspector } from "./context.ts";

const LONGEST_NAME = 60;

export function PageTitle() {
  const { home, route, session } = useInspector();
  const waiting = useStore(home, (home) => home?.questions.length ?? 0);
  const shown = useStore(route);
  const title = useStore(session, (model) => model?.session?.title);
  const name = visibleLine((title ?? "Session").slice(0, LONGEST_NAME));
  useEffect(() => {
    const parts = [...partsOf(shown, name), "Soong inspector"].join(" · ");
    document.title = waiting > 0 ? `(${waiting}) ${parts}` : parts;
  }, [waiting, shown, name]);
  return null;
}

function partsOf(route: Route, session: string): readonly string[] {
  switch (route.view) {
    case "sessions":
      return [];
    case "session":
      return route.tab === "timeline" ? [session] : [word(route.tab), session];
    case "what-if":
      return ["What if", session];
    case "tasks":
    case "playground":
    case "questions":
    case "servers":
      return [word(route.view)];
  }
}

function word(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Announces a new question to those who do not look at the list of questions. */
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
        ? `${first.request.tool_name} is waiting for your answer. Press q for the questions.`
        : `${fresh.length} calls are waiting for your answer. Press q for the questions.`,
    );
  }, [questions]);
  return null;
}
