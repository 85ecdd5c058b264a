// Puts the page into the document: first the token, then what the inspector can do, then everything else.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { About } from "../wire/routes.ts";
import { createApi, errorText, isAbort, RequestFailed } from "./api/client.ts";
import { dropToken, keepToken, readPastedToken, takeToken, findToken } from "./api/token.ts";
import { App, ConnectionBanner } from "./app/app.tsx";
import { startTheme } from "./app/theme.ts";
import { focusOnce } from "./parts/button.tsx";
import { type Connection, waitBeforeTry } from "./state/changes-loop.ts";
import { createStore } from "./state/store.ts";

export function start(body: HTMLElement): void {
  startTheme();
  render(<Gate />, body);
}

type Entry = { token: string } | { why: "missing" | "wrong" };

function Gate() {
  const [entry, setEntry] = useState(enter);
  useEffect(() => {
    // The printed address, opened in a tab that is here already.
    const onHash = () => {
      if (findToken(location.hash) !== undefined) setEntry(enter());
    };
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  if ("why" in entry) {
    const take = (token: string) => {
      keepToken(sessionStorage, token);
      setEntry({ token });
    };
    return <TokenPage why={entry.why} onToken={take} />;
  }
  const refuse = () => {
    dropToken(sessionStorage);
    setEntry({ why: "wrong" });
  };
  return <Page key={entry.token} token={entry.token} onUnauthorized={refuse} />;
}

function enter(): Entry {
  const token = takeToken({ storage: sessionStorage, location, history });
  return token === undefined ? { why: "missing" } : { token };
}

function Page(props: { token: string; onUnauthorized: () => void }) {
  const [{ api, connection }] = useState(() => reach(props.token, props.onUnauthorized));
  const [about, setAbout] = useState<About>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = (tries: number) => {
      api.ask("GET /api/about", { signal: abort.signal }).then(setAbout, (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return;
        if (!(error instanceof RequestFailed) || error.code !== "unreachable") {
          setProblem(errorText(error));
        }
        timer = setTimeout(() => ask(tries + 1), waitBeforeTry(tries));
      });
    };
    ask(1);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [api]);
  if (about !== undefined) return <App api={api} about={about} connection={connection} />;
  return (
    <main class="token-page">
      <h1>Soong inspector</h1>
      <ConnectionBanner connection={connection} />
      <p class="quiet">{problem ?? "Connecting to the inspector…"}</p>
    </main>
  );
}

function reach(token: string, onUnauthorized: () => void) {
  const connection = createStore<Connection>({ state: "connecting" });
  const become = (next: Connection) => {
    if (connection.get().state !== next.state) connection.set(next);
  };
  const api = createApi({
    token,
    fetch: (url, init) => fetch(url, init),
    onReached: () => become({ state: "connected" }),
    onUnreachable: () => become({ state: "lost", tries: 1 }),
    onUnauthorized,
  });
  return { api, connection };
}

const WHY = {
  missing: "The address has no token.",
  wrong: "The token is wrong: the inspector was restarted, or this is the address of another one.",
};

/** The page while it has no token, or a wrong one. */
function TokenPage(props: { why: "missing" | "wrong"; onToken: (token: string) => void }) {
  const [problem, setProblem] = useState<string>();
  return (
    <main class="token-page">
      <h1>Soong inspector</h1>
      <p role="alert">{WHY[props.why]}</p>
      <p>
        Copy the whole line printed by <code>soong inspect</code>, and open it or paste it here.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const address = new FormData(event.currentTarget).get("address");
          const token = typeof address === "string" ? readPastedToken(address) : undefined;
          if (token === undefined) setProblem("No token found: it ends with #token=…");
          else props.onToken(token);
        }}
      >
        <label class="field">
          Address or token
          <input
            name="address"
            type="text"
            autoComplete="off"
            spellcheck={false}
            ref={focusOnce}
            placeholder="http://127.0.0.1:4321/#token=…"
            aria-describedby="token-problem"
          />
        </label>
        <button type="submit" class="button primary">
          Open
        </button>
      </form>
      <p id="token-problem" class="problem" role="status">
        {problem}
      </p>
    </main>
  );
}
