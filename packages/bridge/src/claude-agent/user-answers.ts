// What the host's user said to calls. A yes is for one call: its id, its tool and its input, once. A model may use an id twice.

import { isDeepStrictEqual } from "node:util";

export interface UserAnswer {
  readonly approve: boolean;
  readonly reason?: string;
}

export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export interface UserAnswers {
  /** To a call that ended a query. The next call with this id takes it. */
  give(id: string, answer: UserAnswer): void;
  take(id: string): UserAnswer | undefined;
  approve(call: AnsweredCall): void;
  isApproved(call: AnsweredCall): boolean;
  /** The same, and the call is not approved any more. */
  takeApproval(call: AnsweredCall): boolean;
  /** The host has ended all calls with this id. */
  forget(id: string): void;
}

export function createUserAnswers(): UserAnswers {
  const given = new Map<string, UserAnswer>();
  let approved: AnsweredCall[] = [];
  const findApproved = (call: AnsweredCall) => approved.find((one) => isSameCall(one, call));

  return {
    give: (id, answer) => void given.set(id, answer),
    take(id) {
      const answer = given.get(id);
      given.delete(id);
      return answer;
    },
    approve: (call) => void approved.push(call),
    isApproved: (call) => findApproved(call) !== undefined,
    takeApproval(call) {
      const found = findApproved(call);
      approved = approved.filter((one) => one !== found);
      return found !== undefined;
    },
    forget(id) {
      given.delete(id);
      approved = approved.filter((one) => one.id !== id);
    },
  };
}

function isSameCall(one: AnsweredCall, other: AnsweredCall): boolean {
  return (
    one.id === other.id &&
    one.name === other.name &&
    isDeepStrictEqual(one.arguments, other.arguments)
  );
}
