// The page once it has its token: header, sessions at the left, the view that the address says.

import { useEffect, useRef, useState } from "preact/hooks";
import type { About } from "../../wire/index.ts";
import type { Api } from "../api/client.ts";
import { visibleLine } from "@soong/core";
import { SessionList } from "../sessions/session-list.tsx";
import type { Connection } from "../state/changes-loop.ts";
import { createStore, type Store, useStore } from "../state/store.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { type Inspector, InspectorContext, useInspector } from "./context.ts";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { startInspector } from "./inspector.ts";
import { PageKeys } from "./page-keys.tsx";
import { NewQuestions, PageTitle } from "./attention.tsx";
import { listenToKeys } from "./use-keys.ts";
import type { JSX } from "preact";
import { PlaygroundView } from "../playground/playground-view.tsx";
import { QuestionsView } from "../questions/question-list.tsx";
import type { Route } from "../route/hash-route.ts";
import { ServersView } from "../servers/servers-view.tsx";
import { SessionView } from "../sessions/session-view.tsx";
import { TasksView } from "../tasks/tasks-view.tsx";
import { WhatIfView } from "../what-if/what-if-view.tsx";
import { Welcome } from "./welcome.tsx";

export function App(props: { api: Api; about: About; connection: Store<Connection> }) {
  const [announcement] = useState(() => createStore(""));
  const [inspector, setInspector] = useState<Inspector>();
  const [isHelpOpen, setHelpOpen] = useState(false);
  useEffect(() => {
    const started = startInspector({ ...props, announcement });
    const unlisten = listenToKeys();
    setInspector(started.inspector);
    return () => {
      started.stop();
      unlisten();
    };
  }, [props.api]);
  if (inspector === undefined) return null;
  return (
    <InspectorContext.Provider value={inspector}>
      <PageKeys onHelp={() => setHelpOpen(true)} />
      <NewQuestions />
      <PageTitle />
      <a class="skip" href="#main" onClick={skip}>
        Skip to the view
      </a>
      <Header onHelp={() => setHelpOpen(true)} />
      <ConnectionBanner connection={props.connection} />
      <HomeProblems />
      <div class="body">
        <SessionList />
        <main id="main" tabIndex={-1}>
          <MainView />
        </main>
      </div>
      <Announcement text={announcement} />
      {isHelpOpen && <HelpDialog onClose={() => setHelpOpen(false)} />}
    </InspectorContext.Provider>
  );
}

// The fragment holds the route, so the link must not follow itself.
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Announcement(props: { text: Store<string> }) {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {useStore(props.text)}
    </div>
  );
}

/** Runtimes that are there and do not answer, and what cannot be read. */
function HomeProblems() {
  const problems = useStore(useInspector().home, (home) => home?.problems);
  if (problems === undefined || problems.length === 0) return null;
  if (problems.length === 1) return <p class="home-problems">⚠ {visibleLine(problems[0] ?? "")}</p>;
  return (
    <details class="home-problems">
      <summary>⚠ {problems.length} problems</summary>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{visibleLine(problem)}</li>
        ))}
      </ul>
    </details>
  );
}

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
