// Where the user is, as the fragment of the address: what is shown can be kept as a bookmark, and back and forward
// work. Routes begin with `#/`; a token (`#token=…`) is none.

export type Route =
  | HomeRoute
  | SessionRoute
  | { view: "questions"; question_id?: string }
  | { view: "tasks"; task_id?: string }
  | { view: "playground"; tool_name?: string }
  | { view: "what-if"; session_id: string; run_id: string }
  | { view: "policy"; project?: string }
  | { view: "servers" }
  | { view: "new-run"; project?: string }
  | CompareRoute;

/** Two runs side by side; each as `SESSION/RUN`, or not chosen yet. */
export interface CompareRoute {
  view: "compare";
  left?: RunPlace;
  right?: RunPlace;
}

export interface RunPlace {
  session_id: string;
  run_id?: string;
}

/** What is filtered for, and what all conversations are searched for. */
export interface HomeRoute {
  view: "home";
  status?: string;
  project?: string;
  tool?: string;
  text?: string;
  search?: string;
}

export interface SessionRoute {
  view: "session";
  session_id: string;
  tab: SessionTab;
  /** The run that was chosen. */
  run_id?: string;
  /** The call that was chosen. */
  tool_call_id?: string;
  /** The model request of the run that was chosen. */
  request?: number;
  /** The fact that was chosen. */
  seq?: number;
  /** The message that was chosen. */
  node_id?: string;
}

export const SESSION_TABS = ["conversation", "timeline", "facts", "surface", "artifacts"] as const;
export type SessionTab = (typeof SESSION_TABS)[number];

export function writeHash(route: Route): string {
  switch (route.view) {
    case "session": {
      const { session_id, tab, run_id, tool_call_id, request, seq, node_id } = route;
      const chosen = { run: run_id, call: tool_call_id, request, fact: seq, message: node_id };
      return hash(["session", session_id, tab], chosen);
    }
    case "home": {
      const { status, project, tool, text, search } = route;
      return hash(["home"], { status, project, tool, text, search });
    }
    case "what-if":
      return hash(["session", route.session_id, "what-if"], { run: route.run_id });
    case "tasks":
      return hash(route.task_id === undefined ? ["tasks"] : ["tasks", route.task_id]);
    case "playground":
      return hash(["playground"], { tool: route.tool_name });
    case "policy":
      return hash(["policy"], { project: route.project });
    case "questions":
      return hash(["questions"], { question: route.question_id });
    case "new-run":
      return hash(["new-run"], { project: route.project });
    case "compare":
      return hash(["compare"], { a: writePlace(route.left), b: writePlace(route.right) });
    default:
      return hash([route.view]);
  }
}

function writePlace(place: RunPlace | undefined): string | undefined {
  if (place === undefined) return undefined;
  return [place.session_id, place.run_id ?? ""].map(encodeURIComponent).join("/");
}

function readPlace(text: string | undefined): RunPlace | undefined {
  const [session_id = "", run_id = ""] = (text ?? "").split("/").map(decodePart);
  return session_id === "" ? undefined : { session_id, run_id: run_id || undefined };
}

/** What was said in a session. */
export function linkToSession(session_id: string): string {
  return writeHash({ view: "session", tab: "conversation", session_id });
}

/** A call, or a run, in the timeline of its session. */
export function linkToTimeline(at: Pick<SessionRoute, "session_id" | "run_id" | "tool_call_id">) {
  const { session_id, run_id, tool_call_id } = at;
  return writeHash({ view: "session", tab: "timeline", session_id, run_id, tool_call_id });
}

/** A message in the conversation beside the timeline. */
export function linkToMessage(at: Pick<SessionRoute, "session_id" | "run_id" | "node_id">): string {
  return writeHash({ view: "session", tab: "conversation", ...at });
}

/** What is no route is the home. */
export function readHash(hashText: string): Route {
  const [path = "", queryText = ""] = hashText.replace(/^#\/?/, "").split("?", 2);
  const [view = "", first = "", second = ""] = path.split("/").map(decodePart);
  const query = new URLSearchParams(queryText);
  const asked = (name: string) => query.get(name) || undefined;
  const run_id = asked("run");
  if (view === "questions") return { view, question_id: asked("question") };
  if (view === "policy") return { view, project: asked("project") };
  if (view === "servers") return { view };
  if (view === "tasks") return { view, task_id: first || undefined };
  if (view === "new-run") return { view, project: asked("project") };
  if (view === "compare") {
    return { view, left: readPlace(asked("a")), right: readPlace(asked("b")) };
  }
  if (view === "playground") return { view, tool_name: asked("tool") };
  if (view === "home") {
    return {
      view,
      status: asked("status"),
      project: asked("project"),
      tool: asked("tool"),
      text: asked("text"),
      search: asked("search"),
    };
  }
  if (view !== "session" || first === "") return { view: "home" };
  if (second === "what-if" && run_id !== undefined) {
    return { view: "what-if", session_id: first, run_id };
  }
  const numberIn = (name: string) => {
    const value = Number(query.get(name) || Number.NaN);
    return Number.isSafeInteger(value) ? value : undefined;
  };
  return {
    view,
    session_id: first,
    tab: SESSION_TABS.find((known) => known === second) ?? "conversation",
    run_id,
    tool_call_id: asked("call"),
    request: numberIn("request"),
    seq: numberIn("fact"),
    node_id: asked("message"),
  };
}

function hash(
  path: readonly string[],
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  const head = `#/${path.map(encodeURIComponent).join("/")}`;
  return parts.length === 0 ? head : `${head}?${parts.join("&")}`;
}

/** As it is where it is not encoded as parts of addresses are. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
