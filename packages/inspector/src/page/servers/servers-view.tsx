// MCP servers of the home, a card each: how it is, its tools with their schemas and pins, what it changed after it was
// allowed (MCP-7), its log.

import { visibleLine } from "@soong/core";
import { useEffect, useState } from "preact/hooks";
import type { ChangedTool, ServerRow } from "../../wire/home-records.ts";
import { useAction, useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { Button } from "../parts/button.tsx";
import { Loaded, LongText, Mono, ProblemText, sizeText, spacedText } from "../parts/text.tsx";
import { ChangedTools } from "./changed-tools.tsx";
import { ExcludedTools, ServerTools } from "./server-tools.tsx";

export function ServersView() {
  const loaded = useAnswer("GET /api/servers", {});
  const { is_loading, reload } = loaded;
  return (
    <section class="view servers">
      <h1>Servers</h1>
      <p>
        <Button disabled={is_loading} onClick={() => reload()}>
          {is_loading ? "Connecting the servers…" : "Reconnect all"}
        </Button>
      </p>
      <Loaded from={loaded} what="the servers">
        {({ servers }) => (
          <>
            {servers.length === 0 && (
              <p class="quiet">
                No server is configured. <code>soong mcp add NAME -- COMMAND</code> adds one to
                mcp.json of your home.
              </p>
            )}
            {servers.map((server) => (
              <Server key={server.server_id} server={server} isOld={is_loading} />
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
  idle: "○ not connected yet",
  failed: "✕ failed",
  closed: "■ closed",
  disabled: "– disabled",
};

/** `isOld`: all servers are being connected again. */
function Server(props: { server: ServerRow; isOld: boolean }) {
  const { server_id } = props.server;
  const { api, announce } = useInspector();
  const [row, setRow] = useState(props.server);
  const [done, setDone] = useState<string>();
  const connecting = useAction();
  const accepting = useAction();
  useEffect(() => setRow(props.server), [props.server]);

  const reconnect = () =>
    connecting.run(async () => {
      const path = { server_id };
      const now = await api.ask("POST /api/servers/:server_id/connect", { path, body: {} });
      setRow(now);
      announce(`${server_id}: ${spacedText(now.state)}.`);
    });

  async function accept(shown: readonly ChangedTool[]): Promise<void> {
    setDone(undefined);
    await accepting.run(async () => {
      const { accepted } = await api.ask("POST /api/servers/:server_id/accept", {
        path: { server_id },
        body: { shown: [...shown] },
      });
      const names = accepted.map(({ tool_name }) => tool_name).join(", ");
      const text = names === "" ? "Nothing was accepted." : `Accepted: ${names}.`;
      setDone(text);
      announce(text);
    });
    await reconnect();
  }

  const { state, tools, message, changes, excluded } = row;
  const isBusy = connecting.isRunning || accepting.isRunning || props.isOld;
  return (
    <article class="card" aria-label={`Server ${server_id}`}>
      <div class="server-head">
        <h2>
          <Mono text={server_id} /> <span class="chip">{STATES[state] ?? spacedText(state)}</span>{" "}
          <span class="quiet">{tools.length === 1 ? "1 tool" : `${tools.length} tools`}</span>
        </h2>
        {state !== "disabled" && (
          <Button
            aria-label={`Reconnect ${server_id}`}
            disabled={isBusy}
            onClick={() => void reconnect()}
          >
            {connecting.isRunning ? "Connecting…" : "Reconnect"}
          </Button>
        )}
      </div>
      <p class="quiet">{visibleLine(describeServer(row))}</p>
      {message !== undefined && <p class="prose">{visibleLine(message)}</p>}
      <ProblemText text={connecting.problem} />
      {changes.length > 0 && (
        <ChangedTools
          changes={changes}
          isResting={isBusy}
          onAccept={(shown) => void accept(shown)}
        />
      )}
      <ProblemText text={accepting.problem} />
      {done !== undefined && <p role="status">✓ {visibleLine(done)}</p>}
      <ServerTools server_id={server_id} tools={tools} />
      <ExcludedTools excluded={excluded} />
      <ServerLogEnd server_id={server_id} />
    </article>
  );
}

function describeServer({ transport, protocol_version, server_info, place }: ServerRow): string {
  const parts = [
    server_info && `${server_info.name} ${server_info.version}`,
    protocol_version && `MCP ${protocol_version}`,
    transport === "http" ? "over HTTP" : "a program on this machine",
    place,
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Read when it is opened, and again on demand. */
function ServerLogEnd({ server_id }: { server_id: string }) {
  const [isOpen, setOpen] = useState(false);
  const loaded = useAnswer(
    "GET /api/servers/:server_id/log",
    { path: { server_id } },
    { isPaused: !isOpen },
  );
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Log</summary>
      {isOpen && (
        <Loaded from={loaded} what="the log">
          {({ file, text, omitted }) => (
            <>
              <p class="quiet">
                <Mono text={file} />
                {omitted > 0 && `, its end; ${sizeText(omitted)} before that are not shown`}{" "}
                <Button disabled={loaded.is_loading} onClick={() => loaded.reload()}>
                  Read again
                </Button>
              </p>
              {text === "" ? (
                <p class="quiet">The server wrote nothing to its standard error.</p>
              ) : (
                <LongText text={text} label={`Log of ${server_id}`} />
              )}
            </>
          )}
        </Loaded>
      )}
    </details>
  );
}
