// An artifact page by page, with a search that leads to the place. A page is asked for by the offset of its first byte;
// the artifact itself may be of any size.

import { useEffect, useRef, useState } from "preact/hooks";
import type { ArtifactMatches, ArtifactPage } from "../../wire/index.ts";
import { RequestFailed } from "../api/client.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { useInspector } from "../app/context.ts";
import { LoadState, ProblemText } from "../parts/loading.tsx";
import { visible, visibleLine } from "@soong/core";
import { CopyButton } from "./copy-button.tsx";
import { sizeText } from "./text-slice.ts";

const PAGE_BYTES = 16_384;

export function ArtifactViewer(props: { session_id: string; artifact_id: string }) {
  const { session_id, artifact_id } = props;
  const { api } = useInspector();
  const [offset, setOffset] = useState(0);
  const [visited, setVisited] = useState<readonly number[]>([]);
  useEffect(() => {
    setOffset(0);
    setVisited([]);
  }, [session_id, artifact_id]);
  const loaded = useLoaded(
    (signal) =>
      api.ask("GET /api/sessions/:session_id/artifacts/:artifact_id", {
        path: { session_id, artifact_id },
        query: { offset: String(offset), length: String(PAGE_BYTES) },
        signal,
      }),
    `${session_id} ${artifact_id}`,
    offset,
  );
  const page = loaded.value;

  function go(to: number): void {
    setVisited([...visited, offset]);
    setOffset(to);
  }

  function back(): void {
    const before = visited.findLast((at) => at < offset);
    setVisited(
      visited.slice(
        0,
        visited.findLastIndex((at) => at < offset),
      ),
    );
    setOffset(before ?? Math.max(0, offset - PAGE_BYTES));
  }

  return (
    <section class="artifact" aria-label={`Artifact ${artifact_id}`}>
      <ArtifactSearch session_id={session_id} artifact_id={artifact_id} onGo={go} />
      <LoadState loaded={loaded} what="the artifact" />
      {page !== undefined && (
        <>
          <div class="pager" role="group" aria-label="Pages">
            <button type="button" class="button" disabled={offset === 0} onClick={() => go(0)}>
              ⇤ Beginning
            </button>
            <button type="button" class="button" disabled={offset === 0} onClick={back}>
              ← Previous
            </button>
            <button
              type="button"
              class="button"
              disabled={page.next_offset === undefined}
              onClick={() => page.next_offset !== undefined && go(page.next_offset)}
            >
              Next →
            </button>
            <span class="quiet">{placeText(page)}</span>
          </div>
          <PageText page={page} />
        </>
      )}
    </section>
  );
}

function PageText(props: { page: ArtifactPage }) {
  const { text, hex } = props.page;
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = 0;
  }, [props.page]);
  if (text !== undefined) {
    return (
      <>
        <CopyButton text={text} what="this page" />
        <pre ref={box} class="code artifact-page" tabIndex={0} aria-label="A page of the artifact">
          {text === "" ? <span class="quiet">(empty)</span> : visible(text)}
        </pre>
      </>
    );
  }
  return (
    <>
      <p class="quiet">These bytes are no text; as hexadecimal:</p>
      <pre ref={box} class="code artifact-page" tabIndex={0} aria-label="A page of the artifact">
        {hexRows(hex ?? "")}
      </pre>
    </>
  );
}

function hexRows(hex: string): string {
  const plain = hex.replaceAll(/\s/g, "");
  return (plain.match(/.{1,32}/g) ?? [])
    .map((row) => (row.match(/../g) ?? []).join(" "))
    .join("\n");
}

function placeText({ artifact, offset, next_offset, line }: ArtifactPage): string {
  const end = next_offset ?? artifact.size;
  const from = line === undefined ? "" : `from line ${line}, `;
  return `${from}bytes ${offset}–${end} of ${artifact.size} (${sizeText(artifact.size)}), ${visibleLine(artifact.media_type)}`;
}

function ArtifactSearch(props: {
  session_id: string;
  artifact_id: string;
  onGo: (offset: number) => void;
}) {
  const { api } = useInspector();
  const { session_id, artifact_id } = props;
  const [query, setQuery] = useState("");
  const [isRegex, setRegex] = useState(false);
  const [found, setFound] = useState<ArtifactMatches>();
  const [problem, setProblem] = useState<string>();
  const [at, setAt] = useState(-1);
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function search(): Promise<void> {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    setProblem(undefined);
    setAt(-1);
    try {
      const matches = await api.ask("GET /api/sessions/:session_id/artifacts/:artifact_id/search", {
        path: { session_id, artifact_id },
        query: { q: query, ...(isRegex ? { regex: "1" as const } : {}) },
        signal: abort.signal,
      });
      setFound(matches);
    } catch (error) {
      if (abort.signal.aborted) return;
      setFound(undefined);
      setProblem(error instanceof RequestFailed ? error.message : String(error));
    }
  }

  function jump(to: number): void {
    const match = found?.matches[to];
    if (match === undefined) return;
    setAt(to);
    props.onGo(match.offset);
  }

  const matches = found?.matches ?? [];
  return (
    <form
      class="artifact-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (query !== "") void search();
      }}
    >
      <label>
        <span class="unseen">Search in this artifact</span>
        <input
          type="search"
          placeholder="Search in this artifact"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      </label>
      <label>
        <input
          type="checkbox"
          checked={isRegex}
          onChange={(event) => setRegex(event.currentTarget.checked)}
        />{" "}
        regular expression
      </label>
      <button type="submit" class="button" disabled={query === ""}>
        Search
      </button>
      {problem !== undefined && <ProblemText text={problem} />}
      {found !== undefined && (
        <div role="status" class="quiet">
          {matches.length === 0
            ? "Nothing found."
            : `${matches.length}${found.is_cut ? " and more" : ""} found${at >= 0 ? `, at number ${at + 1}` : ""}.`}
        </div>
      )}
      {matches.length > 0 && (
        <>
          <div class="pager">
            <button type="button" class="button" disabled={at <= 0} onClick={() => jump(at - 1)}>
              ↑ Match before
            </button>
            <button
              type="button"
              class="button"
              disabled={at >= matches.length - 1}
              onClick={() => jump(at + 1)}
            >
              ↓ Next match
            </button>
          </div>
          <ol class="matches" aria-label="Matches">
            {matches.slice(0, 200).map((match, index) => (
              <li key={index}>
                <button
                  type="button"
                  class="link mono"
                  aria-current={index === at}
                  onClick={() => jump(index)}
                >
                  {match.line}: {visibleLine(match.text.slice(0, 200))}
                </button>
              </li>
            ))}
          </ol>
        </>
      )}
    </form>
  );
}
