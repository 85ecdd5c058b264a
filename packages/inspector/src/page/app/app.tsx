// The page once it has its token: header, sessions at the left, the view that the address says.

import { useEffect, useState } from "preact/hooks";
import type { About } from "../../wire/index.ts";
import type { Api } from "../api/client.ts";
import { visibleLine } from "@soong/core";
import { SessionList } from "../sessions/session-list.tsx";
import type { Connection } from "../state/connection.ts";
import { createStore } from "../state/store.ts";
import type { Store } from "../state/store.ts";
import { useStore } from "../state/use-store.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { InspectorContext, useInspector } from "./context.ts";
import type { Inspector } from "./context.ts";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { startInspector } from "./inspector.ts";
import { MainView } from "./main-view.tsx";
import { NewQuestions } from "./new-questions.tsx";
import { PageKeys } from "./page-keys.tsx";
import { PageTitle } from "./page-title.tsx";
import { listenToKeys } from "./use-keys.ts";

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

// The fragment is where the route stands, so the link must not follow itself.
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
