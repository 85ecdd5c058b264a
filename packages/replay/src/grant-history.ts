// Grants that other runs of the session gave, and those that were taken back: facts of the session, not of the run. Most
// runs have none, so the session is read for them only when one is spoken of.

import type { Fact, Grants, ToolGrant } from "@soong/core";
import { readFacts, type ReplaySource } from "./source.ts";

export interface GrantHistory {
  /** Brings the book to where it was at a fact. `used`: the grant that was counted there. */
  at(seq: number, used: string | undefined): Promise<void>;
}

export function createGrantHistory(source: ReplaySource, book: Grants): GrantHistory {
  let history: GrantFact[] | undefined;

  return {
    async at(seq, used) {
      if (used === undefined && book.list().length === 0) return;
      history ??= await readGrantFacts(source);
      const before = history.filter((fact) => fact.seq < seq);
      for (const { type, data } of before) {
        if (type === "grant.revoked") book.revoke(data.grant_id);
      }
      if (used === undefined || book.list().some(({ grant_id }) => grant_id === used)) return;
      const given = before.map(readGrant).find((grant) => grant?.grant_id === used);
      if (given !== undefined) book.add(given);
    },
  };
}

type GrantFact = Fact<"grant.created" | "grant.revoked">;

async function readGrantFacts(source: ReplaySource): Promise<GrantFact[]> {
  const found: GrantFact[] = [];
  for await (const fact of readFacts(source)) {
    if (fact.type === "grant.created" || fact.type === "grant.revoked") found.push(fact);
  }
  return found;
}

function readGrant({ type, data }: GrantFact): ToolGrant | undefined {
  return type === "grant.created" ? data.grant : undefined;
}
