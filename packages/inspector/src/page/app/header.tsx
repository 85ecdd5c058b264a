// The line at the top: where one can go, whether the inspector answers, and how the page looks.

import { hashOf } from "../route/hash-route.ts";
import type { Route } from "../route/hash-route.ts";
import { useStore } from "../state/use-store.ts";
import { useInspector } from "./context.ts";
import { nextTheme, theme } from "./theme.ts";
import type { Theme } from "./theme.ts";

export function Header(props: { onHelp: () => void }) {
  const { about, announce } = useInspector();
  const chosen = useStore(theme);
  return (
    <header class="header">
      <a class="name" href={hashOf({ view: "sessions" })}>
        Soong inspector
      </a>
      <nav aria-label="Views" class="views">
        <ViewLink to={{ view: "sessions" }} names={["sessions", "session", "what-if"]}>
          Sessions
        </ViewLink>
        <QuestionsLink />
        {about.can.tasks && <ViewLink to={{ view: "tasks" }}>Tasks</ViewLink>}
        {about.can.playground && <ViewLink to={{ view: "playground" }}>Playground</ViewLink>}
        {about.can.servers && <ViewLink to={{ view: "servers" }}>Servers</ViewLink>}
      </nav>
      <span class="home mono" title={`soong ${about.version}, home ${about.home}`}>
        {about.home}
      </span>
      <LiveDot />
      <button
        type="button"
        class="button"
        title="Theme (t)"
        onClick={() => announce(`Theme: ${nextTheme()}`)}
      >
        <span aria-hidden="true">{THEME_MARKS[chosen]}</span>
        <span class="wide-only"> {chosen}</span>
        <span class="unseen"> theme, change it</span>
      </button>
      <button type="button" class="button" title="Keys and help (?)" onClick={props.onHelp}>
        <span aria-hidden="true">?</span>
        <span class="unseen">Keys and help</span>
      </button>
    </header>
  );
}

const THEME_MARKS: Readonly<Record<Theme, string>> = { system: "◐", light: "○", dark: "●" };

function ViewLink(props: { to: Route; names?: readonly string[]; children: string }) {
  const { route } = useInspector();
  const view = useStore(route, ({ view }) => view);
  const isHere = (props.names ?? [props.to.view]).includes(view);
  return (
    <a href={hashOf(props.to)} aria-current={isHere ? "page" : undefined}>
      {props.children}
    </a>
  );
}

function QuestionsLink() {
  const { home, route } = useInspector();
  const count = useStore(home, (home) => home?.questions.length ?? 0);
  const isHere = useStore(route, ({ view }) => view === "questions");
  return (
    <a
      href={hashOf({ view: "questions" })}
      aria-current={isHere ? "page" : undefined}
      class={count > 0 ? "has-questions" : ""}
    >
      Questions
      {count > 0 && (
        <span class="badge">
          {count}
          <span class="unseen"> waiting</span>
        </span>
      )}
    </a>
  );
}

function LiveDot() {
  const state = useStore(useInspector().connection, ({ state }) => state);
  const words = { connected: "connected", connecting: "connecting", lost: "not reachable" }[state];
  return (
    <span class={`live-dot ${state}`}>
      <span aria-hidden="true" class="dot" />
      {words}
    </span>
  );
}
