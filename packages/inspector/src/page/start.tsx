// Puts the page into the document: first the token, then what the inspector can do, then everything else.

import { type Api, createApi, errorText, isAbort, RequestFailed } from "./api/client.ts";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { About } from "../wire/index.ts";
import { dropToken, keepToken, takeToken, tokenIn } from "./api/token.ts";
import { App } from "./app/app.tsx";
import { ConnectionBanner } from "./app/connection-banner.tsx";
import { startTheme } from "./app/theme.ts";
import { TokenPage } from "./app/token-page.tsx";
import { type Connection, waitBeforeTry } from "./state/changes-loop.ts";
import { createStore, type Store } from "./state/store.ts";

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
      if (tokenIn(location.hash) !== undefined) setEntry(enter());
    };
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  if ("why" in entry) {
    return (
      <TokenPage
        why={entry.why}
        onToken={(token) => {
          keepToken(sessionStorage, token);
          setEntry({ token });
        }}
      />
    );
  }
  return (
    <Page
      key={entry.token}
      token={entry.token}
      onUnauthorized={() => {
        dropToken(sessionStorage);
        setEntry({ why: "wrong" });
      }}
    />
  );
}

function enter(): Entry {
  const token = takeToken({ storage: sessionStorage, location, history });
  return token === undefined ? { why: "missing" } : { token };
}

interface Reached {
  api: Api;
  connection: Store<Connection>;
}

function Page(props: { token: string; onUnauthorized: () => void }) {
  const [{ api, connection }] = useState<Reached>(() => reach(props.token, props.onUnauthorized));
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

function reach(token: string, onUnauthorized: () => void): Reached {
  const connection = createStore<Connection>({ state: "connecting" });
  const api = createApi({
    token,
    fetch: (url, init) => fetch(url, init),
    onReached: () => {
      if (connection.get().state !== "connected") connection.set({ state: "connected" });
    },
    onUnreachable: () => {
      if (connection.get().state !== "lost") connection.set({ state: "lost", tries: 1 });
    },
    onUnauthorized,
  });
  return { api, connection };
}
