// The view that one opens first: what runs, what waits, what failed, what today cost, and every session; or, while
// someone searches, where that text is.

import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { Button } from "../parts/button.tsx";
import { TextInput } from "../parts/input.tsx";
import { Loaded } from "../parts/text.tsx";
import { useClock, useSlowed } from "../parts/time.ts";
import { writeHash, type HomeRoute } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { Failed, Running, Today, Waiting } from "./glance.tsx";
import { SearchResults } from "./search-results.tsx";
import { SessionTables } from "./session-tables.tsx";

export function HomeView({ route }: { route: HomeRoute }) {
  const isEmpty = useStore(useInspector().home, (home) => home?.sessions.length === 0);
  const { search } = route;
  return (
    <section class="view home">
      <div class="home-head">
        <h1>{search === undefined ? "Home" : "Search"}</h1>
        {!isEmpty && <SearchForm key={search} text={search ?? ""} />}
      </div>
      {search !== undefined ? (
        <SearchResults key={search} text={search} />
      ) : isEmpty ? (
        <FirstSteps />
      ) : (
        <Sections route={route} />
      )}
    </section>
  );
}

function SearchForm({ text }: { text: string }) {
  const { go } = useInspector();
  const [typed, setTyped] = useState(text);
  return (
    <form
      class="home-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const search = typed.trim() === "" ? undefined : typed;
        go({ view: "home", search });
      }}
    >
      <TextInput
        type="search"
        data-search
        aria-label="Search all conversations"
        placeholder="Search what users, models and tools said"
        value={typed}
        onText={setTyped}
      />
      <Button type="submit">Search</Button>
      {text !== "" && <a href={writeHash({ view: "home" })}>Back to home</a>}
    </form>
  );
}

function Sections({ route }: { route: HomeRoute }) {
  const version = useHomeVersion();
  const now = useClock(1000);
  const since = startOfDay(now);
  const overview = useAnswer("GET /api/home", { query: { since } }, { version });
  const { value } = overview;
  return (
    <>
      <Loaded from={overview} what="the overview" />
      <div class="glance">
        <Running running={value?.running} now={now} />
        <Waiting now={now} />
        <Failed failed={value?.failed} now={now} />
        <Today used={value?.used} isLoading={overview.is_loading && value === undefined} />
      </div>
      <SessionTables route={route} version={version} now={now} projects={value?.projects ?? []} />
    </>
  );
}

/** Counts up when anything of the home changed; not more often than it can be asked for. */
function useHomeVersion(): number {
  const sessions = useStore(useInspector().home, (home) => home);
  const count = useRef(0);
  const [version, setVersion] = useState(0);
  useEffect(() => {
    count.current += 1;
    setVersion(count.current);
  }, [sessions]);
  return useSlowed(version);
}

/** Of the reader. */
function startOfDay(now: number): string {
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
}

/** What to do in a home that has nothing yet. */
function FirstSteps() {
  const { about } = useInspector();
  return (
    <div class="first-steps">
      <p>
        No session is kept in <span class="mono">{about.home}</span> yet. Everything that Soong does
        appears here as soon as it happens.
      </p>
      <ol>
        <li>
          <code>soong run "Explain this project"</code> in a terminal asks a model; watch it work
          here, and answer what requires approval.
        </li>
        <li>
          <code>soong demo</code> shows a run without a model, in a home of its own.
        </li>
        {about.can.playground && (
          <li>
            <a href={writeHash({ view: "playground" })}>The playground</a> calls a single tool, with
            a form for its input.
          </li>
        )}
      </ol>
    </div>
  );
}
