import { deriveContext } from "@soong/agent";
import type { Fact, FactData, FactType } from "@soong/core";

/** The facts of these types; all of them where none is named. */
export function factsOfTypes<T extends FactType = FactType>(
  facts: readonly Fact[],
  ...types: readonly T[]
): Fact<T>[] {
  const wanted: ReadonlySet<string> = new Set(types);
  return facts.filter(({ type }) => wanted.size === 0 || wanted.has(type)) as Fact<T>[];
}

/** A fact as any program may have written it: its data need not fit its type. */
export function writtenFact<T extends FactType>(
  about: Partial<Omit<Fact, "type" | "data">> & { readonly type: T; readonly data?: unknown },
): Fact<T> {
  const { seq = 1, type } = about;
  const time = "2026-01-01T00:00:00.000Z";
  const own = { id: `f${seq}`, seq, type, time, level: "info", session_id: "s", data: {} };
  return { ...own, ...about } as Fact as Fact<T>;
}

/** What each request held, whole, in the order of their facts. */
export function contextsIn(facts: readonly Fact[]): FactData<"context.resolved">[] {
  const resolved = factsOfTypes(facts, "context.resolved");
  return resolved.map((fact, i) => {
    const ofRun = resolved.slice(0, i + 1).filter(({ run_id }) => run_id === fact.run_id);
    const whole = deriveContext(ofRun.map(({ data }) => data));
    if (whole === undefined) throw new Error(`${fact.id} adds to a context that is not there`);
    return whole;
  });
}
