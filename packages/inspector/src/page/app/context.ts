// What every view is given: the server, what is known by now, and the way to other views.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { About, HomeState } from "../../wire/index.ts";
import type { Api } from "../api/client.ts";
import type { Route } from "../route/hash-route.ts";
import type { Connection } from "../state/changes-loop.ts";
import type { SessionModel } from "../state/session-model.ts";
import type { Store } from "../state/store.ts";

export interface Inspector {
  readonly api: Api;
  /** What this inspector can do. */
  readonly about: About;
  /** Sessions, questions, grants; undefined until the first answer. Live. */
  readonly home: Store<HomeState | undefined>;
  /** Runs and lanes of the session that is shown; undefined when none is. Live. */
  readonly session: Store<SessionModel | undefined>;
  /** Why there is no such session as the address says: a sentence. */
  readonly noSession: Store<string | undefined>;
  readonly connection: Store<Connection>;
  readonly route: Store<Route>;
  /** `replace`: the way back leads past where we are now. */
  readonly go: (route: Route, how?: "replace") => void;
  /** Read out to those who listen to the page, and seen by no one. */
  readonly announce: (text: string) => void;
}

export const InspectorContext = createContext<Inspector | undefined>(undefined);

export function useInspector(): Inspector {
  const inspector = useContext(InspectorContext);
  if (inspector === undefined) throw new Error("useInspector is used outside of the page");
  return inspector;
}
