// The line at the top: where one can go, whether the inspector answers, and how the page looks. On a phone the views are
// in the menu.

import { Button, SignButton } from "../parts/button.tsx";
import { writeHash } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { useInspector } from "./inspector.ts";
import { nextTheme, theme } from "./theme.ts";
import { listViewLinks } from "./views.tsx";

const THEME_MARKS = { system: "◐", light: "○", dark: "●" } as const;
const CONNECTION = { connected: "connected", connecting: "connecting", lost: "not reachable" };

export function Header(props: { isPhone: boolean; onHelp: () => void; onMenu: () => void }) {
  const { about } = useInspector();
  if (props.isPhone) {
    return (
      <header class="header">
        <SignButton sign="☰" label="Menu" aria-haspopup="dialog" onClick={props.onMenu} />
        <a class="name" href={writeHash({ view: "home" })}>
          Soong
        </a>
        <span class="gap" />
        <WaitingQuestions />
        <ConnectionState isShort />
      </header>
    );
  }
  return (
    <header class="header">
      <a class="name" href={writeHash({ view: "home" })}>
        Soong
      </a>
      <ViewLinks />
      <span class="home mono" title={`soong ${about.version}, home ${about.home}`}>
        {about.home}
      </span>
      <ConnectionState />
      <PageButtons onHelp={props.onHelp} />
    </header>
  );
}

/** Views that are reached from within another one belong to it. */
const WITHIN: Readonly<Record<string, string>> = { session: "home", "what-if": "home" };

export function ViewLinks() {
  const { about, home, route } = useInspector();
  const shown = useStore(route, ({ view }) => WITHIN[view] ?? view);
  const questions = useStore(home, (home) => home?.questions.length ?? 0);
  return (
    <nav aria-label="Views" class="views">
      {listViewLinks(about.can).map(({ name, to }) => (
        <a key={name} href={writeHash(to)} aria-current={shown === to.view ? "page" : undefined}>
          {name}
          {to.view === "questions" && questions > 0 && (
            <span class="badge">
              {questions}
              <span class="unseen"> waiting</span>
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}

/** For those who do not see the views. */
function WaitingQuestions() {
  const questions = useStore(useInspector().home, (home) => home?.questions.length ?? 0);
  if (questions === 0) return null;
  return (
    <a class="waiting-questions" href={writeHash({ view: "questions" })}>
      <span class="badge">{questions === 1 ? "1 question" : `${questions} questions`}</span>
    </a>
  );
}

function ConnectionState({ isShort }: { isShort?: boolean }) {
  const state = useStore(useInspector().connection, ({ state }) => state);
  return (
    <span class={`live-dot ${state}`}>
      <span aria-hidden="true" class="dot" />
      <span class={isShort ? "unseen" : undefined}>{CONNECTION[state]}</span>
    </span>
  );
}

export function PageButtons(props: { onHelp: () => void }) {
  const { announce } = useInspector();
  const chosen = useStore(theme);
  return (
    <>
      <Button title="Theme (t)" onClick={() => announce(`Theme: ${nextTheme()}`)}>
        <span aria-hidden="true">{THEME_MARKS[chosen]}</span>
        <span class="wide-only"> {chosen}</span>
        <span class="unseen"> theme, change it</span>
      </Button>
      <SignButton sign="?" label="Keys and help" title="Keys and help (?)" onClick={props.onHelp} />
    </>
  );
}
