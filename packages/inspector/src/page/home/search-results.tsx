// Where a text is, in all conversations: newest first, a page at a time, as far back as was searched.

import { visibleLine } from "@soong/core";
import { useEffect, useRef, useState } from "preact/hooks";
import type { TranscriptHit, TranscriptSearch } from "../../wire/overview-records.ts";
import { errorText, isAbort } from "../api/client.ts";
import { useInspector } from "../app/inspector.ts";
import { Button } from "../parts/button.tsx";
import { ProblemText } from "../parts/text.tsx";
import { instantText, recordedMoment } from "../parts/time.ts";
import { linkToMessage, linkToTimeline } from "../route/hash-route.ts";
import { lastPart } from "../sessions/session-list.tsx";

export function SearchResults({ text }: { text: string }) {
  const { found, state, problem, search, stop } = useSearch(text);
  const { hits, searched_to, next } = found;
  const isSearching = state === "searching";
  return (
    <>
      <p role="status">{describeProgress(found, text, state)}</p>
      <ol class="hits" aria-label="Matches" aria-busy={isSearching}>
        {hits.map((hit) => (
          <li key={`${hit.session_id} ${hit.node_id}`}>
            <Hit hit={hit} />
          </li>
        ))}
      </ol>
      <ProblemText text={problem} />
      <p>
        {isSearching && <Button onClick={stop}>Stop</Button>}
        {(state === "stopped" || (state === "idle" && next !== undefined)) && (
          <>
            {searched_to !== undefined && `Searched back to ${recordedMoment(searched_to)}. `}
            <Button onClick={search}>Continue</Button>
          </>
        )}
      </p>
    </>
  );
}

type SearchState = "searching" | "stopped" | "idle";

function describeProgress(found: TranscriptSearch, text: string, state: SearchState): string {
  const { hits, searched_to, next } = found;
  const count = hits.length === 1 ? "1 match" : `${hits.length} matches`;
  if (state === "stopped") return `Stopped. ${count} so far.`;
  if (state === "searching") {
    const back = searched_to === undefined ? "" : ` back to ${recordedMoment(searched_to)}`;
    return `Searching${back}… ${hits.length === 0 ? "" : count}`;
  }
  if (next !== undefined) return `${count} so far.`;
  return hits.length === 0
    ? `No conversation has “${visibleLine(text)}”.`
    : `${count}. Every conversation was searched.`;
}

const WHO = { user: "User", model: "Model", tool: "Result", context: "Context" } as const;

function Hit({ hit }: { hit: TranscriptHit }) {
  const { session_id, run_id, node_id, tool_call_id, tool_name, time, who } = hit;
  const isCall = who === "tool" && tool_call_id !== undefined;
  const href = isCall
    ? linkToTimeline({ session_id, run_id, tool_call_id })
    : linkToMessage({ session_id, run_id, node_id });
  return (
    <article class="card">
      <p class="hit-head">
        <strong>{WHO[who]}</strong>
        {tool_name !== undefined && <span class="mono"> {visibleLine(tool_name)}</span>}
        {" in "}
        {visibleLine(hit.title ?? session_id)}
      </p>
      <p class="hit-line">
        <a href={href}>
          {visibleLine(hit.before)}
          <mark>{visibleLine(hit.match)}</mark>
          {visibleLine(hit.after)}
        </a>
      </p>
      <p class="quiet">
        {visibleLine(lastPart(hit.project ?? "no project"))} ·{" "}
        <time dateTime={time} title={instantText(Date.parse(time))}>
          {recordedMoment(time)}
        </time>{" "}
        · run <span class="mono">{visibleLine(run_id)}</span>
      </p>
    </article>
  );
}

const NOTHING: TranscriptSearch = { hits: [] };

/** Searches on until there is something to show, or everything was searched; more on demand. */
function useSearch(text: string) {
  const { api } = useInspector();
  const [found, setFound] = useState(NOTHING);
  const [state, setState] = useState<SearchState>("searching");
  const [problem, setProblem] = useState<string>();
  const searching = useRef(new AbortController());

  async function searchFrom(from: TranscriptSearch): Promise<void> {
    const { signal } = (searching.current = new AbortController());
    setState("searching");
    setProblem(undefined);
    let known = from;
    try {
      do {
        const query = { q: text, before: known.next };
        const page = await api.ask("GET /api/search", { query, signal });
        known = { ...page, hits: [...known.hits, ...page.hits] };
        if (signal.aborted) return;
        setFound(known);
      } while (known.next !== undefined && known.hits.length === from.hits.length);
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      setProblem(errorText(error));
      setState("stopped");
      return;
    }
    setState("idle");
  }

  useEffect(() => {
    void searchFrom(NOTHING);
    return () => searching.current.abort();
  }, []);

  return {
    found,
    state,
    problem,
    search: () => void searchFrom(found),
    stop: () => {
      searching.current.abort();
      setState("stopped");
    },
  };
}
