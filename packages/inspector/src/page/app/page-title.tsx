// The title of the tab: what is shown in it, and how many questions wait.

import { useEffect } from "preact/hooks";
import { visibleLine } from "@soong/core";
import type { Route } from "../route/hash-route.ts";
import { useStore } from "../state/use-store.ts";
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
