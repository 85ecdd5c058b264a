import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeHash, type Route, readHash, SESSION_TABS } from "./hash-route.ts";

const id = fc.string({ minLength: 1, unit: "binary" }).filter((text) => isWellFormed(text));
const place = fc.record({ session_id: id, run_id: id }, { requiredKeys: ["session_id"] });
const routes: fc.Arbitrary<Route> = fc.oneof(
  fc.constant<Route>({ view: "servers" }),
  fc.record(
    { view: fc.constant("questions" as const), question_id: id },
    { requiredKeys: ["view"] },
  ),
  fc.record({ view: fc.constant("policy" as const), project: id }, { requiredKeys: ["view"] }),
  fc.record(
    {
      view: fc.constant("home" as const),
      status: id,
      project: id,
      tool: id,
      text: id,
      search: id,
    },
    { requiredKeys: ["view"] },
  ),
  fc.record(
    {
      view: fc.constant("session" as const),
      session_id: id,
      tab: fc.constantFrom(...SESSION_TABS),
      run_id: id,
      tool_call_id: id,
      seq: fc.nat(),
      node_id: id,
    },
    { requiredKeys: ["view", "session_id", "tab"] },
  ),
  fc.record({ view: fc.constant("tasks" as const), task_id: id }, { requiredKeys: ["view"] }),
  fc.record(
    { view: fc.constant("playground" as const), tool_name: id },
    { requiredKeys: ["view"] },
  ),
  fc.record({ view: fc.constant("what-if" as const), session_id: id, run_id: id }),
  fc.record({ view: fc.constant("new-run" as const), project: id }, { requiredKeys: ["view"] }),
  fc.record(
    { view: fc.constant("compare" as const), left: place, right: place },
    { requiredKeys: ["view"] },
  ),
);

describe("a route in the address", () => {
  it("comes back as it was", () => {
    fc.assert(
      fc.property(routes, (route) => {
        expect(readHash(writeHash(route))).toEqual(route);
      }),
    );
  });

  it("is the list of sessions for anything else", () => {
    for (const text of [
      "",
      "#",
      "#/",
      "#token=abc",
      "#/nothing/at/all",
      "#/%E0%A4%A",
      "#/session",
    ]) {
      expect(readHash(text)).toEqual({ view: "home" });
    }
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(readHash(writeHash(readHash(text)))).toEqual(readHash(text));
      }),
    );
  });

  it("never looks like a token", () => {
    fc.assert(
      fc.property(routes, (route) => {
        expect(writeHash(route)).toMatch(/^#\//);
      }),
    );
  });

  it("reads well", () => {
    expect(
      writeHash({
        view: "session",
        session_id: "s1",
        tab: "timeline",
        run_id: "r1",
        tool_call_id: "call_1",
      }),
    ).toBe("#/session/s1/timeline?run=r1&call=call_1");
  });
});

/** A half of a character has no place in an address. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
