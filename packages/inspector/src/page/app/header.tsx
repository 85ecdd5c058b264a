// The line at the top: where one can go, whether the inspector answers, and how the page looks.

import type { ComponentChildren } from "preact";
import { Button, SignButton } from "../parts/button.tsx";
import { writeHash, type Route } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { useInspector } from "./inspector.ts";
import { nextTheme, theme } from "./theme.ts";

const THEME_MARKS = { system: "◐", light: "○", dark: "●" } as const;
const CONNECTION = { connected: "connected", connecting: "connecting", lost: "not reachable" };

export function Header(props: { onHelp: () => void }) {
  const { about, announce, connection, home } = useInspector();
  const { can } = about;
  const chosen = useStore(theme);
  const state = useStore(connection, ({ state }) => state);
  const questions = useStore(home, (home) => home?.questions.length ?? 0);
  return (
    <header class="header">
      <a class="name" href={writeHash({ view: "sessions" })}>
        Soong inspector
      </a>
      <nav aria-label="Views" class="views">
        <ViewLink view="sessions" also={["session", "what-if"]}>
          Sessions
        </ViewLink>
        <ViewLink view="questions">
          Questions
          {questions > 0 && (
            <span class="badge">
              {questions}
              <span class="unseen"> waiting</span>
            </span>
          )}
        </ViewLink>
        {can.tasks && <ViewLink view="tasks">Tasks</ViewLink>}
        {can.playground && <ViewLink view="playground">Playground</ViewLink>}
        {can.servers && <ViewLink view="servers">Servers</ViewLink>}
      </nav>
      <span class="home mono" title={`soong ${about.version}, home ${about.home}`}>
        {about.home}
      </span>
      <span class={`live-dot ${state}`}>
        <span aria-hidden="true" class="dot" />
        {CONNECTION[state]}
      </span>
      <Button title="Theme (t)" onClick={() => announce(`Theme: ${nextTheme()}`)}>
        <span aria-hidden="true">{THEME_MARKS[chosen]}</span>
        <span class="wide-only"> {chosen}</span>
        <span class="unseen"> theme, change it</span>
      </Button>
      <SignButton sign="?" label="Keys and help" title="Keys and help (?)" onClick={props.onHelp} />
    </header>
  );
}

function ViewLink(props: {
  view: "sessions" | "questions" | "tasks" | "playground" | "servers";
  also?: readonly Route["view"][];
  children: ComponentChildren;
}) {
  const { view, also = [] } = props;
  const shown = useStore(useInspector().route, ({ view }) => view);
  const isHere = shown === view || also.includes(shown);
  return (
    <a href={writeHash({ view })} aria-current={isHere ? "page" : undefined}>
      {props.children}
    </a>
  );
}
