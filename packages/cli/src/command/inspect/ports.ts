// What the inspector of this program can do beside reading the store. Each part is loaded when the page first wants it.

import type { InspectorPorts } from "@soong/inspector";
import type { Store } from "@soong/store";
import { loadFactTexts } from "../facts.ts";
import { openLivePort } from "./live.ts";
import type { InspectedHome } from "./inspected-home.ts";

export interface OpenPorts {
  readonly ports: Required<InspectorPorts>;
  /** Calls under way are ended and on record; no one is attended any more. */
  readonly close: () => Promise<void>;
}

export async function openPorts(place: InspectedHome, store: Store): Promise<OpenPorts> {
  const factTexts = await loadFactTexts();
  const live = openLivePort(place.home);
  const tasks = once(async () => {
    const { createTasksPort } = await import("./tasks.ts");
    return createTasksPort(store, place.home);
  });
  const playground = once(async () => {
    const { openPlayground } = await import("./playground.ts");
    return openPlayground(place, (session_id) => live.attended(session_id));
  });
  const servers = once(async () => {
    const { openServersPort } = await import("./servers.ts");
    return openServersPort(place);
  });
  const whatIf = once(async () => {
    const { createWhatIfPort } = await import("./what-if.ts");
    return createWhatIfPort(store, place);
  });

  return {
    ports: {
      factTexts,
      live,
      tasks: {
        list: async () => (await tasks.get()).list(),
        graph: async (task_id) => (await tasks.get()).graph(task_id),
        version: async () => (await tasks.get()).version(),
      },
      playground: {
        tools: async () => (await playground.get()).tools(),
        explain: async (tool_name, input) => (await playground.get()).explain(tool_name, input),
        call: async (tool_name, input) => (await playground.get()).call(tool_name, input),
        ended: async (run_id) => (await playground.get()).ended(run_id),
      },
      servers: {
        list: async () => (await servers.get()).list(),
        accept: async (server_id, shown) => (await servers.get()).accept(server_id, shown),
      },
      whatIf: async (asked) => (await whatIf.get())(asked),
    },
    async close() {
      (await servers.made())?.close();
      await (await playground.made())?.close();
      live.close();
    },
  };
}

interface Once<T> {
  get(): Promise<T>;
  /** Undefined when no one ever wanted it. */
  made(): Promise<T> | undefined;
}

function once<T>(make: () => Promise<T>): Once<T> {
  let making: Promise<T> | undefined;
  return { get: () => (making ??= make()), made: () => making };
}
