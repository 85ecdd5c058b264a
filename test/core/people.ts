// The users of a test: whom the kernel asks for permission, what they were shown, what they answer.

import type { AskPermission, PermissionAnswer, PermissionRequest } from "@soong/core";

export interface Person {
  readonly ask: AskPermission;
  /** Everything this person was asked, in order. */
  readonly requests: PermissionRequest[];
}

type Reply = PermissionAnswer["decision"] | ((request: PermissionRequest) => unknown);

/** Answers at once; a function may answer anything, nonsense included. */
export function personWho(reply: Reply): Person {
  const requests: PermissionRequest[] = [];
  return {
    requests,
    ask(request) {
      requests.push(request);
      const answer = typeof reply === "function" ? reply(request) : { decision: reply };
      return answer as PermissionAnswer;
    },
  };
}

export interface SlowPerson extends Person {
  /** Answers the open question about this call. */
  answer(tool_call_id: string, answer: PermissionAnswer): void;
}

/** Says nothing until told what to say. */
export function slowPerson(): SlowPerson {
  const requests: PermissionRequest[] = [];
  const open = new Map<string, (answer: PermissionAnswer) => void>();
  return {
    requests,
    ask(request) {
      requests.push(request);
      return new Promise((resolve) => {
        open.set(request.tool_call_id, resolve);
      });
    },
    answer(tool_call_id, answer) {
      const resolve = open.get(tool_call_id);
      if (resolve === undefined) throw new Error(`nobody was asked about ${tool_call_id}`);
      open.delete(tool_call_id);
      resolve(answer);
    },
  };
}
