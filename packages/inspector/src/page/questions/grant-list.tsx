// What was granted for the session in the live runtimes, and the way to take it back.

import { useState } from "preact/hooks";
import type { GrantRow } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { focusedOnce } from "../parts/focused.ts";
import { ProblemText } from "../parts/loading.tsx";
import { momentText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import { useStore } from "../state/use-store.ts";

export function GrantList() {
  const { home } = useInspector();
  const grants = useStore(home, (state) => state?.grants);
  if (grants === undefined || grants.length === 0) {
    return <p class="quiet">Nothing is granted for a session.</p>;
  }
  return (
    <ul class="grants">
      {grants.map((grant) => (
        <li key={`${grant.session_id} ${grant.grant_id}`} class="card">
          <Grant grant={grant} />
        </li>
      ))}
    </ul>
  );
}

type Revoking =
  | { is: "no" }
  | { is: "kept" }
  | { is: "asked" }
  | { is: "sending" }
  | { is: "failed"; why: string };

function Grant(props: { grant: GrantRow }) {
  const { grant } = props;
  const { session_id, grant_id } = grant;
  const { api, announce } = useInspector();
  const [revoking, setRevoking] = useState<Revoking>({ is: "no" });

  async function revoke(): Promise<void> {
    setRevoking({ is: "sending" });
    try {
      await api.ask("DELETE /api/grants/:grant_id", {
        path: { grant_id },
        query: { session_id },
      });
      announce(`Taken back: ${grant.tool_name}.`);
      // It goes from the list, and the focus with it.
      document.getElementById("main")?.focus();
    } catch (error) {
      setRevoking({ is: "failed", why: error instanceof Error ? error.message : String(error) });
    }
  }

  return (
    <>
      <p>
        <strong class="mono">{visibleLine(grant.tool_name)}</strong> — {visibleLine(grant.covers)}
      </p>
      <p class="quiet">
        Granted by {visibleLine(grant.granted_by)} at{" "}
        {momentText(Date.parse(grant.granted_at), Date.now())} in{" "}
        <span class="mono">{visibleLine(grant.project)}</span>, process {grant.pid}, session{" "}
        <span class="mono">{visibleLine(session_id)}</span>.{" "}
        <a
          href={hashOf({
            view: "session",
            session_id,
            tab: "timeline",
            tool_call_id: grant.tool_call_id,
          })}
        >
          The call that was asked about
        </a>
      </p>
      {revoking.is === "failed" && <ProblemText text={revoking.why} />}
      {revoking.is === "asked" || revoking.is === "sending" ? (
        <p role="group" aria-label="Take it back?">
          Such calls will be asked about again.{" "}
          <button
            type="button"
            class="button danger"
            aria-disabled={revoking.is === "sending"}
            // The button that was there has gone: whoever came by key goes on from here.
            ref={focusedOnce}
            onClick={() => revoking.is === "asked" && void revoke()}
          >
            Take it back
          </button>{" "}
          <button type="button" class="button" onClick={() => setRevoking({ is: "kept" })}>
            Keep it
          </button>
        </p>
      ) : (
        <button
          type="button"
          class="button"
          aria-label={`Revoke the grant for ${grant.tool_name}`}
          {...(revoking.is === "kept" ? { ref: focusedOnce } : {})}
          onClick={() => setRevoking({ is: "asked" })}
        >
          Revoke…
        </button>
      )}
    </>
  );
}
