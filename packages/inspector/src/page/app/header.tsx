// The line at the top: where one can go, whether the inspector answers, and how the page looks.

import { Button, SignButton } from "../parts/button.tsx";
import type { ComponentChildren } from "preact";
import { hashOf, type Route } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { useInspector } from "./context.ts";
import { nextTheme, theme, type Theme } from "./theme.ts";

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
      <Button title="Theme (t)" onClick={() => announce(`Theme: ${nextTheme()}`)}>
        <span aria-hidden="true">{THEME_MARKS[chosen]}</span>
        <span class="wide-only"> {chosen}</span>
        <span class="unseen"> theme, change it</span>
      </Button>
      <SignButton sign="?" label="Keys and help" title="Keys and help (?)" onClick={props.onHelp} />
    </header>
  );
}

const THEME_MARKS: Readonly<Record<Theme, string>> = { system: "◐", light: "○", dark: "●" };

function ViewLink(props: {
  to: Route;
  names?: readonly string[];
  class?: string;
  children: ComponentChildren;
}) {
  const view = useStore(useInspector().route, ({ view }) => view);
  const isHere = (props.names ?? [props.to.view]).includes(view);
  return (
    <a href={hashOf(props.to)} aria-current={isHere ? "page" : undefined} class={props.class}>
      {props.children}
    </a>
  );
}

function QuestionsLink() {
  const count = useStore(useInspector().home, (home) => home?.questions.length ?? 0);
  return (
    <ViewLink to={{ view: "questions" }} class={count > 0 ? "has-questions" : ""}>
      Questions
      {count > 0 && (
        <span class="badge">
          {count}
          <span class="unseen"> waiting</span>
        </span>
      )}
    </ViewLink>
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
