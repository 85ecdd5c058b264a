// The views of the page, in the order of the navigation. To add one: its address in route/hash-route.ts, its line here,
// and its line in test/inspector/every-view.ts. The navigation, the keys, the help and the title follow.

import type { JSX } from "preact";
import type { About } from "../../wire/routes.ts";
import { PolicyView } from "../policy/policy-view.tsx";
import { HomeView } from "../home/home-view.tsx";
import { CompareView } from "../compare/compare-view.tsx";
import { NewRunView } from "../composer/new-run-view.tsx";
import { PlaygroundView } from "../playground/playground-view.tsx";
import { QuestionsView } from "../questions/question-list.tsx";
import type { Route } from "../route/hash-route.ts";
import { ServersView } from "../servers/servers-view.tsx";
import { SessionView } from "../sessions/session-view.tsx";
import { TasksView } from "../tasks/tasks-view.tsx";
import { WhatIfView } from "../what-if/what-if-view.tsx";

type RouteOf = { [Name in Route["view"]]: Extract<Route, { view: Name }> };

interface View<Shown extends Route> {
  readonly name: string;
  /** In the navigation: where it leads, and the key that opens it after `g`. */
  readonly link?: { readonly to: Shown; readonly key: string };
  /** What the inspector may have been started without, and the rest of "This inspector …". */
  readonly needs?: { readonly part: keyof About["can"]; readonly otherwise: string };
  readonly show: (route: Shown) => JSX.Element;
}

const VIEWS: { readonly [Name in Route["view"]]: View<RouteOf[Name]> } = {
  home: {
    name: "Home",
    link: { to: { view: "home" }, key: "h" },
    show: (route) => <HomeView route={route} />,
  },
  questions: {
    name: "Questions",
    link: { to: { view: "questions" }, key: "q" },
    needs: { part: "answer", otherwise: "is not connected to live runtimes" },
    show: ({ question_id }) => <QuestionsView question_id={question_id} />,
  },
  "new-run": {
    name: "New run",
    link: { to: { view: "new-run" }, key: "n" },
    needs: { part: "run", otherwise: "cannot start runs" },
    show: ({ project }) => <NewRunView key={project} project={project} />,
  },
  compare: {
    name: "Compare",
    link: { to: { view: "compare" }, key: "d" },
    show: (route) => <CompareView route={route} />,
  },
  policy: {
    name: "Policy",
    link: { to: { view: "policy" }, key: "y" },
    needs: { part: "policy", otherwise: "was started without a policy" },
    show: ({ project }) => <PolicyView project={project} />,
  },
  tasks: {
    name: "Tasks",
    link: { to: { view: "tasks" }, key: "k" },
    needs: { part: "tasks", otherwise: "was started without tasks" },
    show: ({ task_id }) => <TasksView task_id={task_id} />,
  },
  servers: {
    name: "Servers",
    link: { to: { view: "servers" }, key: "v" },
    needs: { part: "servers", otherwise: "was started without servers" },
    show: () => <ServersView />,
  },
  playground: {
    name: "Playground",
    link: { to: { view: "playground" }, key: "p" },
    needs: { part: "playground", otherwise: "was started without a playground" },
    show: ({ tool_name }) => <PlaygroundView tool_name={tool_name} />,
  },
  session: {
    name: "Session",
    show: (route) => <SessionView key={route.session_id} route={route} />,
  },
  "what-if": {
    name: "What if",
    show: ({ session_id, run_id }) => <WhatIfView key={run_id} {...{ session_id, run_id }} />,
  },
};

export interface ViewLink {
  readonly name: string;
  readonly to: Route;
  readonly key: string;
}

/** Those of the navigation that this inspector can show. */
export function listViewLinks(can: About["can"]): readonly ViewLink[] {
  return Object.values(VIEWS).flatMap(({ name, link, needs }) =>
    link === undefined || (needs !== undefined && !can[needs.part]) ? [] : [{ name, ...link }],
  );
}

export function viewName(view: Route["view"]): string {
  return VIEWS[view].name;
}

export function renderView<Name extends Route["view"]>(
  name: Name,
  route: RouteOf[Name],
  can: About["can"],
): JSX.Element {
  const view: View<RouteOf[Name]> = VIEWS[name];
  if (view.needs === undefined || can[view.needs.part]) return view.show(route);
  return (
    <section class="view">
      <h1>{view.name}</h1>
      <p>This inspector {view.needs.otherwise}.</p>
    </section>
  );
}
