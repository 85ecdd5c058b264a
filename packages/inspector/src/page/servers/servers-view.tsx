// MCP servers of the home, and definitions they changed after they were allowed (MCP-7). What is accepted is what is
// shown: the server is sent back exactly these lines and hashes.

import { visibleLine } from "@soong/core";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ChangedTool, ServerRow } from "../../wire/home-records.ts";
import { useAction, useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { Button } from "../parts/button.tsx";
import { Loaded, Mono, ProblemText, spacedText } from "../parts/text.tsx";
import { isDeliberate, useLastMoved } from "../questions/answer-guard.ts";

export function ServersView() {
  const loaded = useAnswer("GET /api/servers", {});
  const { is_loading, reload } = loaded;
  return (
    <section class="view servers">
      <h1>Servers</h1>
      <p>
        <Button disabled={is_loading} onClick={() => reload()}>
          {is_loading ? "Asking the servers…" : "Ask again"}
        </Button>
      </p>
      <Loaded from={loaded} what="the servers">
        {({ servers }) => (
          <>
            {servers.length === 0 && <p class="quiet">No server is set up.</p>}
            {servers.map((server) => (
              <Server
                key={server.server_id}
                server={server}
                isOld={is_loading}
                onAccepted={reload}
              />
            ))}
          </>
        )}
      </Loaded>
    </section>
  );
}

const STATES: Readonly<Record<string, string>> = {
  connected: "✓ connected",
  connecting: "… connecting",
  idle: "○ not asked yet",
  failed: "✕ failed",
  closed: "■ closed",
  disabled: "– disabled",
};

/** `isOld`: it is being asked again how it is. */
function Server(props: { server: ServerRow; isOld: boolean; onAccepted: () => void }) {
  const { server_id, state, tools, message, changes } = props.server;
  const { api, announce } = useInspector();
  const [done, setDone] = useState<string>();
  const { isRunning, problem, run } = useAction();

  async function accept(shown: readonly ChangedTool[]): Promise<void> {
    setDone(undefined);
    await run(async () => {
      const { accepted } = await api.ask("POST /api/servers/:server_id/accept", {
        path: { server_id },
        body: { shown: [...shown] },
      });
      const names = accepted.map(({ tool_name }) => tool_name).join(", ");
      const text = names === "" ? "Nothing was accepted." : `Accepted: ${names}.`;
      setDone(text);
      announce(text);
    });
    props.onAccepted();
  }

  return (
    <article class="card" aria-label={`Server ${server_id}`}>
      <h2>
        <Mono text={server_id} /> <span class="chip">{STATES[state] ?? spacedText(state)}</span>{" "}
        <span class="quiet">{tools} tools</span>
      </h2>
      {message !== undefined && <p class="prose">{visibleLine(message)}</p>}
      {changes.length > 0 && (
        <Changed
          changes={changes}
          isResting={isRunning || props.isOld}
          onAccept={(shown) => void accept(shown)}
        />
      )}
      <ProblemText text={problem} />
      {done !== undefined && <p role="status">✓ {visibleLine(done)}</p>}
    </article>
  );
}

function Changed(props: {
  changes: readonly ChangedTool[];
  /** What was accepted may be shown for as long as it takes to ask again. */
  isResting: boolean;
  onAccept: (shown: readonly ChangedTool[]) => void;
}) {
  const { changes, isResting } = props;
  const place = useRef<HTMLDivElement>(null);
  const lastMoved = useLastMoved(() => place.current);
  const shown_at = useRef(performance.now());
  useLayoutEffect(() => {
    shown_at.current = performance.now();
  }, [JSON.stringify(changes)]);

  /** What came under the pointer just now was not read. */
  function accept(shown: readonly ChangedTool[]): void {
    const seen = { shown_at: Math.max(shown_at.current, lastMoved()) };
    const isMeant = isDeliberate(seen, performance.now(), { is_repeat: false });
    if (isMeant && !isResting) props.onAccept(shown);
  }

  return (
    <div ref={place}>
      <p>
        ⚠ {changes.length === 1 ? "One definition is" : `${changes.length} definitions are`} not as
        allowed. What changed is held back until you accept it as it is now.
      </p>
      {changes.map((tool) => (
        <section key={tool.tool_name} class="changed-tool" aria-label={tool.tool_name}>
          <h3>
            <Mono text={tool.tool_name} />{" "}
            <span class="quiet mono" title={tool.hash}>
              {visibleLine(tool.hash.slice(0, 16))}
            </span>
          </h3>
          <pre class="code">{tool.changes.map((line) => `${visibleLine(line)}\n`)}</pre>
          <Button aria-disabled={isResting} onClick={() => accept([tool])}>
            Accept this as it is shown
          </Button>
        </section>
      ))}
      {changes.length > 1 && (
        <Button aria-disabled={isResting} onClick={() => accept(changes)}>
          Accept all {changes.length} as they are shown
        </Button>
      )}
    </div>
  );
}
