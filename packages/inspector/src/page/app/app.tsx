// The page once it has its token: header, sessions at the left, the view that the address says.

import { visibleLine } from "@soong/core";
import { useEffect, useRef, useState } from "preact/hooks";
import type { About } from "../../wire/routes.ts";
import type { Api } from "../api/client.ts";
import { usePhone } from "../parts/phone.ts";
import { notifyOfQuestion } from "../questions/notify.tsx";
import { writeQuestionKey } from "../questions/shown-questions.ts";
import type { Route } from "../route/hash-route.ts";
import type { Connection } from "../state/changes-loop.ts";
import { createStore, type Store, useStore } from "../state/store.ts";
import { type Inspector, InspectorContext, startInspector, useInspector } from "./inspector.ts";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { listenToKeys } from "./keys.ts";
import { focusFirst, PageKeys } from "./page-keys.tsx";
import { Sidebar } from "./sidebar.tsx";
import { renderView, viewName } from "./views.tsx";

export function App(props: { api: Api; about: About; connection: Store<Connection> }) {
  const [announcement] = useState(() => createStore(""));
  const [inspector, setInspector] = useState<Inspector>();
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
      <NewQuestions />
      <PageTitle />
      <Shell connection={props.connection} />
      <Announcement text={announcement} />
    </InspectorContext.Provider>
  );
}

function Shell({ connection }: { connection: Store<Connection> }) {
  const isPhone = usePhone();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  useEffect(() => {
    if (!isPhone) setMenuOpen(false);
  }, [isPhone]);
  const help = () => {
    setMenuOpen(false);
    setHelpOpen(true);
  };
  const toSessions = () => {
    if (isPhone) setMenuOpen(true);
    else focusFirst("#sessions a[tabindex='0']", "#sessions input");
  };
  return (
    <>
      <PageKeys onHelp={help} onSessions={toSessions} />
      <a class="skip" href="#main" onClick={skip}>
        Skip to the view
      </a>
      <Header isPhone={isPhone} onHelp={help} onMenu={() => setMenuOpen(true)} />
      <ConnectionBanner connection={connection} />
      <HomeProblems />
      <div class="body" data-columns>
        <Sidebar
          isPhone={isPhone}
          isOpen={isMenuOpen}
          onClose={() => setMenuOpen(false)}
          onHelp={help}
        />
        <main id="main" tabIndex={-1}>
          <MainView />
        </main>
      </div>
      {isHelpOpen && <HelpDialog onClose={() => setHelpOpen(false)} />}
    </>
  );
}

// The fragment holds the route, so the link must not follow itself.
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Announcement({ text }: { text: Store<string> }) {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {useStore(text)}
    </div>
  );
}

/** Says that the server does not answer, for as long as it does not. */
export function ConnectionBanner({ connection }: { connection: Store<Connection> }) {
  const now = useStore(connection);
  return (
    <div role="status" class="banner-place">
      {now.state === "lost" && (
        <p class="banner">
          <span aria-hidden="true">⚠ </span>
          {now.why === undefined
            ? "The inspector is not reachable; trying again. What is shown may be old."
            : `The inspector could not report what is new; trying again. ${visibleLine(now.why)}`}
        </p>
      )}
    </div>
  );
}

/** Runtimes that are there and do not answer, and what cannot be read. */
function HomeProblems() {
  const problems = useStore(useInspector().home, (home) => home?.problems) ?? [];
  if (problems.length === 0) return null;
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

function MainView() {
  const { about, route: shown } = useInspector();
  const route = useStore(shown);
  useFocusKept(route.view);
  return renderView(route.view, route, about.can);
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

const LONGEST_NAME = 60;

/** The title of the tab, with how many questions wait. */
function PageTitle() {
  const { home, route, session } = useInspector();
  const waiting = useStore(home, (home) => home?.questions.length ?? 0);
  const shown = useStore(route);
  const title = useStore(session, (model) => model?.session?.title);
  const name = visibleLine((title ?? "Session").slice(0, LONGEST_NAME));
  useEffect(() => {
    const parts = [...titleParts(shown, name), "Soong inspector"].join(" · ");
    document.title = waiting > 0 ? `(${waiting}) ${parts}` : parts;
  }, [waiting, shown, name]);
  return null;
}

function titleParts(route: Route, session: string): readonly string[] {
  if (route.view === "home") return [];
  if (route.view === "what-if") return [viewName(route.view), session];
  if (route.view !== "session") return [viewName(route.view)];
  return route.tab === "conversation" ? [session] : [capitalize(route.tab), session];
}

function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Announces a new question to those who do not look at the list of questions. */
function NewQuestions() {
  const { home, announce, go } = useInspector();
  const questions = useStore(home, (home) => home?.questions);
  const known = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (questions === undefined) return;
    const fresh = questions.filter((question) => !known.current.has(writeQuestionKey(question)));
    known.current = new Set(questions.map(writeQuestionKey));
    const [first] = fresh;
    if (first === undefined) return;
    const who = fresh.length === 1 ? `${first.request.tool_name} is` : `${fresh.length} calls are`;
    announce(`${who} waiting for your answer. Press q for the questions.`);
    notifyOfQuestion(fresh, ({ question_id }) => go({ view: "questions", question_id }));
  }, [questions]);
  return null;
}
