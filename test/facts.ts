import type { Fact, FactType } from "@soong/core";

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
