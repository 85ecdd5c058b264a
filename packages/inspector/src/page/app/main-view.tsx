// Which view stands in the middle: as the address says.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { PlaygroundView } from "../playground/playground-view.tsx";
import { QuestionsView } from "../questions/questions-view.tsx";
import type { Route } from "../route/hash-route.ts";
import { ServersView } from "../servers/servers-view.tsx";
import { SessionView } from "../sessions/session-view.tsx";
import { useStore } from "../state/use-store.ts";
import { TasksView } from "../tasks/tasks-view.tsx";
import { WhatIfView } from "../what-if/what-if-view.tsx";
import { useInspector } from "./context.ts";
import { Welcome } from "./welcome.tsx";

export function MainView() {
  const route = useStore(useInspector().route);
  useFocusKept(route.view);
  return viewOf(route);
}

/** What had the focus may be gone with its view: then it is at the beginning of the new one. */
function useFocusKept(view: Route["view"]): void {
  const before = useRef(view);
  useEffect(() => {
    if (before.current === view) return;
    before.current = view;
    if (document.activeElement === document.body) document.getElementById("main")?.focus();
  }, [view]);
}

function viewOf(route: Route): JSX.Element {
  switch (route.view) {
    case "sessions":
      return <Welcome />;
    case "session":
      return <SessionView key={route.session_id} route={route} />;
    case "questions":
      return <QuestionsView />;
    case "tasks":
      return <TasksView task_id={route.task_id} />;
    case "playground":
      return <PlaygroundView tool_name={route.tool_name} />;
    case "what-if":
      return <WhatIfView key={route.run_id} session_id={route.session_id} run_id={route.run_id} />;
    case "servers":
      return <ServersView />;
  }
}
