// Where the user is, as the fragment of the address: what is shown can be kept as a bookmark, and back and forward
// work. Routes begin with `#/`; a token (`#token=…`) is none.

export type Route =
  | { view: "sessions" }
  | SessionRoute
  | { view: "questions" }
  | { view: "tasks"; task_id?: string }
  | { view: "playground"; tool_name?: string }
  | { view: "what-if"; session_id: string; run_id: string }
  | { view: "servers" };

export interface SessionRoute {
  view: "session";
  session_id: string;
  tab: SessionTab;
  /** The run that was chosen. */
  run_id?: string;
  /** The call that was chosen. */
  tool_call_id?: string;
  /** The fact that was chosen. */
  seq?: number;
}

export const SESSION_TABS = ["timeline", "facts", "surface", "artifacts"] as const;
export type SessionTab = (typeof SESSION_TABS)[number];

export function hashOf(route: Route): string {
  switch (route.view) {
    case "sessions":
    case "questions":
    case "servers":
      return `#/${route.view}`;
    case "session":
      return hash(["session", route.session_id, route.tab], {
        run: route.run_id,
        call: route.tool_call_id,
        fact: route.seq?.toString(),
      });
    case "tasks":
      return hash(["tasks", ...(route.task_id === undefined ? [] : [route.task_id])]);
    case "playground":
      return hash(["playground"], { tool: route.tool_name });
    case "what-if":
      return hash(["session", route.session_id, "what-if"], { run: route.run_id });
  }
}

/** A call, or a run, in the timeline of its session. */
export function timelineHash(at: Omit<SessionRoute, "view" | "tab">): string {
  return hashOf({ view: "session", tab: "timeline", ...at });
}

/** What is no route is the list of sessions. */
export function routeOf(hashText: string): Route {
  const [path = "", queryText = ""] = hashText.replace(/^#\/?/, "").split("?", 2);
  const [view = "", ...rest] = path.split("/").map(decoded);
  const query = new URLSearchParams(queryText);
  const [first = "", second = ""] = rest;
  switch (view) {
    case "session":
      return first === "" ? { view: "sessions" } : sessionRoute(first, second, query);
    case "tasks":
      return { view, ...(first === "" ? {} : { task_id: first }) };
    case "playground":
      return { view, ...given("tool_name", query.get("tool")) };
    case "questions":
    case "servers":
      return { view };
    default:
      return { view: "sessions" };
  }
}

function sessionRoute(session_id: string, tab: string, query: URLSearchParams): Route {
  const run = query.get("run");
  if (tab === "what-if" && run !== null && run !== "") {
    return { view: "what-if", session_id, run_id: run };
  }
  const seq = Number(query.get("fact") ?? Number.NaN);
  return {
    view: "session",
    session_id,
    tab: SESSION_TABS.find((known) => known === tab) ?? "timeline",
    ...given("run_id", run),
    ...given("tool_call_id", query.get("call")),
    ...(Number.isSafeInteger(seq) ? { seq } : {}),
  };
}

function given<Name extends string>(
  name: Name,
  value: string | null,
): Partial<Record<Name, string>> {
  return value === null || value === "" ? {} : ({ [name]: value } as Record<Name, string>);
}

function hash(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  const head = `#/${path.map(encodeURIComponent).join("/")}`;
  return parts.length === 0 ? head : `${head}?${parts.join("&")}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
