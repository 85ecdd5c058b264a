import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  drawPlan,
  STEP_HEIGHT,
  STEP_WIDTH,
  stepBeside,
  type Drawing,
  type PlannedStep,
} from "./layout.ts";
import { crossings, orderLayers, type Place } from "./order.ts";

function step(step_id: string, ...depends_on: string[]): PlannedStep {
  return { step_id, depends_on };
}

const anyPlan = fc
  .array(fc.array(fc.nat(14), { maxLength: 4 }), { maxLength: 14 })
  .map((rows) => rows.map((row, index) => step(`s${index}`, ...row.map((at) => `s${at}`))));

describe("drawing a plan", () => {
  test("puts each step right of all it depends on, over the longest way", () => {
    const { steps, circular, missing } = drawPlan([
      step("d", "a", "c"),
      step("a"),
      step("b", "a"),
      step("c", "b"),
    ]);
    expect(["a", "b", "c", "d"].map((id) => steps.get(id)?.layer)).toEqual([0, 1, 2, 3]);
    expect([circular, missing]).toEqual([[], []]);
  });

  test("never lets two steps overlap, for any plan", () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const drawing = drawPlan(plan);
        const boxes = [...drawing.steps.values()];
        expect(boxes).toHaveLength(plan.length);
        for (const [index, a] of boxes.entries()) {
          expect(a.x).toBeGreaterThanOrEqual(0);
          expect(a.y).toBeGreaterThanOrEqual(0);
          expect(a.x + STEP_WIDTH).toBeLessThanOrEqual(drawing.width);
          expect(a.y + STEP_HEIGHT).toBeLessThanOrEqual(drawing.height);
          const under = boxes
            .slice(index + 1)
            .filter((b) => a.layer === b.layer && Math.abs(a.y - b.y) < STEP_HEIGHT);
          expect(under).toEqual([]);
        }
      }),
    );
  });

  test("accounts for every dependency once: drawn forwards, circular or missing", () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const { edges, missing, steps } = drawPlan(plan);
        for (const { from, to, kind, path } of edges) {
          expect(path).toMatch(/^M[\d.]+ [\d.]+C/);
          if (kind === "forward") {
            expect(steps.get(from)?.layer).toBeLessThan(steps.get(to)?.layer ?? -1);
          }
        }
        const wanted = plan.flatMap(({ step_id, depends_on }) =>
          [...new Set(depends_on)].map((from) => `${from}>${step_id}`),
        );
        const got = [...edges, ...missing].map(({ from, to }) => `${from}>${to}`);
        expect(new Set(got)).toEqual(new Set(wanted));
        expect(edges.length).toBe(
          wanted.length - new Set(missing.map(({ from, to }) => `${from}>${to}`)).size,
        );
      }),
    );
  });

  test("survives circles, a step that depends on itself, and a dependency that is not there", () => {
    const { steps, edges, circular, missing } = drawPlan([
      step("a", "c"),
      step("b", "a"),
      step("c", "b", "c"),
      step("d", "nowhere"),
    ]);
    expect(steps.size).toBe(4);
    expect(circular).toHaveLength(2);
    expect(edges.filter(({ kind }) => kind === "circular")).toHaveLength(2);
    expect(missing).toEqual([{ from: "nowhere", to: "d" }]);
  });

  test("leads a long edge past the steps between its ends", () => {
    const drawing = drawPlan([step("a"), step("b", "a"), step("c", "b", "a")]);
    const long = drawing.edges.find(({ from, to }) => from === "a" && to === "c");
    const passed = drawing.steps.get("b");
    const lane = /C[\d. ]+ ([\d.]+)H(\d+)/.exec(long?.path ?? "");
    const y = Number(lane?.[1]);
    expect(Number(lane?.[2])).toBe((passed?.x ?? 0) + STEP_WIDTH);
    expect(y < (passed?.y ?? 0) || y > (passed?.y ?? 0) + STEP_HEIGHT).toBe(true);
  });

  test("untangles what can be untangled", () => {
    const drawing = drawPlan([
      step("a"),
      step("b"),
      step("c"),
      step("x", "c"),
      step("y", "b"),
      step("z", "a"),
    ]);
    expect(crossings(placesOf(drawing))).toBe(0);
  });

  test("moves nothing for another order of the rows, once it was drawn", () => {
    const plan = [step("a"), step("b"), step("c", "a"), step("d", "b"), step("e", "a")];
    const first = drawPlan(plan);
    expect(drawPlan(plan.toReversed(), first).steps).toEqual(first.steps);
  });

  test("draws five hundred steps with long edges everywhere", () => {
    const plan = Array.from({ length: 500 }, (_, at) =>
      step(
        `s${at}`,
        ...[at - 1, Math.floor(at / 2), 0].filter((on) => on >= 0 && on < at).map((on) => `s${on}`),
      ),
    );
    const drawing = drawPlan(plan);
    expect(drawing.layers).toHaveLength(500);
    expect(drawing.edges.every(({ path }) => path !== "" && !path.includes("NaN"))).toBe(true);
  });

  test("draws an empty plan", () => {
    expect(drawPlan([])).toMatchObject({ layers: [], edges: [] });
    expect(drawPlan([]).width).toBeGreaterThan(0);
  });
});

describe("ordering a layer", () => {
  test("never ends with more crossings than it began with", () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const layers = placesOf(drawPlan(plan));
        const shuffled = layers.map((layer) => layer.toReversed());
        expect(crossings(orderLayers(shuffled))).toBeLessThanOrEqual(crossings(shuffled));
      }),
    );
  });

  test("counts crossings as pairs in reversed order", () => {
    const place = (id: string, ...after: string[]): Place => ({ id, before: [], after });
    expect(
      crossings([
        [place("a", "y", "z"), place("b", "x"), place("c", "x", "y")],
        [place("x"), place("y"), place("z")],
      ]),
    ).toBe(5);
  });
});

describe("moving by arrow keys", () => {
  const drawing = drawPlan([step("a"), step("b", "a"), step("c", "a"), step("d", "c"), step("e")]);

  test("follows edges to the sides and the layer up and down", () => {
    expect(["b", "c"]).toContain(stepBeside(drawing, "a", "right"));
    expect(stepBeside(drawing, "c", "left")).toBe("a");
    expect(stepBeside(drawing, "c", "right")).toBe("d");
    const [top, below] = drawing.layers[1] ?? [];
    expect(stepBeside(drawing, top!, "down")).toBe(below);
    expect(stepBeside(drawing, below!, "up")).toBe(top);
    expect(stepBeside(drawing, top!, "up")).toBeUndefined();
    expect(stepBeside(drawing, "a", "left")).toBeUndefined();
  });

  test("goes to the next layer where no edge leads, and to the ends", () => {
    expect(drawing.layers[1]).toContain(stepBeside(drawing, "e", "right"));
    expect(stepBeside(drawing, "d", "first")).toBe(drawing.layers[0]?.[0]);
    expect(stepBeside(drawing, "a", "last")).toBe("d");
    expect(stepBeside(drawing, "gone", "left")).toBe(drawing.layers[0]?.[0]);
  });
});

function placesOf(drawing: Drawing): Place[][] {
  const forward = drawing.edges.filter(({ kind }) => kind === "forward");
  return drawing.layers.map((layer) =>
    layer.map((id) => ({
      id,
      before: forward.filter(({ to }) => to === id).map(({ from }) => from),
      after: forward.filter(({ from }) => from === id).map(({ to }) => to),
    })),
  );
}
