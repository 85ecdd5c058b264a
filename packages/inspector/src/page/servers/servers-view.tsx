// MCP servers of the home, and definitions they changed after they were allowed (MCP-7). What is accepted is what is
// shown: the server is sent back exactly these lines and hashes.

import { useState } from "preact/hooks";
import type { ChangedTool, ServerRow } from "../../wire/index.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { useInspector } from "../app/context.ts";
import { LoadState, ProblemText } from "../parts/loading.tsx";
import { visibleLine } from "../parts/visible.ts";

export function ServersView() {
  const { about } = useInspector();
  return (
    <section class="view servers">
      <h1>Servers</h1>
      {about.can.servers ? <Servers /> : <p>This inspector was started without servers.</p>}
    </section>
  );
}

function Servers() {
  const { api } = useInspector();
  const loaded = useLoaded((signal) => api.ask("GET /api/servers", { signal }), "servers");
  const servers = loaded.value?.servers;
  return (
    <>
      <p>
        <button
          type="button"
          class="button"
          disabled={loaded.is_loading}
          onClick={() => loaded.reload()}
        >
          {loaded.is_loading ? "Asking the servers…" : "Ask again"}
        </button>
      </p>
      <LoadState loaded={loaded} what="the servers" />
      {servers?.length === 0 && <p class="quiet">No server is set up.</p>}
      {servers?.map((server) => (
        <Server key={server.server_id} server={server} onAccepted={loaded.reload} />
      ))}
    </>
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

function Server(props: { server: ServerRow; onAccepted: () => void }) {
  const { server } = props;
  return (
    <article class="card" aria-label={`Server ${server.server_id}`}>
      <h2>
        <span class="mono">{visibleLine(server.server_id)}</span>{" "}
        <span class="chip">
          {STATES[server.state] ?? visibleLine(server.state.replaceAll("_", " "))}
        </span>{" "}
        <span class="quiet">{server.tools} tools</span>
      </h2>
      {server.message !== undefined && <p class="prose">{visibleLine(server.message)}</p>}
      {server.changes.length > 0 && <Changed server={server} onAccepted={props.onAccepted} />}
    </article>
  );
}

type Accepting =
  | { is: "no" }
  | { is: "sending" }
  | { is: "done"; text: string }
  | { is: "failed"; message: string };

function Changed(props: { server: ServerRow; onAccepted: () => void }) {
  const { server_id, changes } = props.server;
  const { api, announce } = useInspector();
  const [state, setState] = useState<Accepting>({ is: "no" });

  async function accept(shown: readonly ChangedTool[]): Promise<void> {
    setState({ is: "sending" });
    try {
      const { accepted } = await api.ask("POST /api/servers/:server_id/accept", {
        path: { server_id },
        body: { shown: [...shown] },
      });
      const text = `Accepted: ${accepted.map(({ tool_name }) => tool_name).join(", ") || "nothing"}.`;
      setState({ is: "done", text });
      announce(text);
    } catch (error) {
      setState({ is: "failed", message: error instanceof Error ? error.message : String(error) });
    }
    props.onAccepted();
  }

  return (
    <>
      <p>
        ⚠ {changes.length} definitions are not as they were when you allowed them. They are held
        back until you accept them as they are now.
      </p>
      {changes.map((tool) => (
        <section key={tool.tool_name} class="changed-tool" aria-label={tool.tool_name}>
          <h3>
            <span class="mono">{visibleLine(tool.tool_name)}</span>{" "}
            <span class="quiet mono" title={tool.hash}>
              {visibleLine(tool.hash.slice(0, 16))}
            </span>
          </h3>
          <pre class="code">{tool.changes.map((line) => `${visibleLine(line)}\n`)}</pre>
          <button
            type="button"
            class="button"
            disabled={state.is === "sending"}
            onClick={() => void accept([tool])}
          >
            Accept this as it is shown
          </button>
        </section>
      ))}
      {changes.length > 1 && (
        <button
          type="button"
          class="button"
          disabled={state.is === "sending"}
          onClick={() => void accept(changes)}
        >
          Accept all {changes.length} as they are shown
        </button>
      )}
      {state.is === "failed" && <ProblemText text={state.message} />}
      {state.is === "done" && <p role="status">✓ {visibleLine(state.text)}</p>}
    </>
  );
}
