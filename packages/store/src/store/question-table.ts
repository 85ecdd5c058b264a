// Questions on SQLite. Each change is one statement that says what it expects to find, so that of two processes that answer
// at once one learns that it was second.

import { raw } from "../sqlite/query.ts";
import type { JsonObject } from "@soong/core";
import type { QuestionRecord, QuestionStorage } from "../contract/store.ts";
import type { Query } from "../sqlite/query.ts";
import { asColumn, fromColumn, omitNulls } from "../sqlite/sqlite-error.ts";

export interface QuestionTableParts {
  readonly query: Query;
  /** All of the work or nothing; throws on a store that is only read. */
  readonly transaction: <T>(work: () => T) => T;
  /** Throws where there is no such session. */
  readonly sessionNumber: (session_id: string) => number;
}

const COLUMNS = `questions.*, sessions.session_id AS session_id
  FROM questions JOIN sessions USING (session_no)`;

export function createQuestionTable(parts: QuestionTableParts): QuestionStorage {
  const { query, transaction, sessionNumber } = parts;

  return {
    ask: async (question) =>
      transaction(() => {
        const { session_id, question_id } = question;
        query`INSERT INTO questions (session_no, question_id, run_id, agent_id, tool_call_id, kind,
             tool_name, digest, asked_at, state, request)
           VALUES (${sessionNumber(session_id)}, ${question_id}, ${question.run_id}, ${question.agent_id}, ${asColumn(question.tool_call_id)}, ${question.kind}, ${asColumn(question.tool_name)}, ${question.digest}, ${question.asked_at}, 'open', ${JSON.stringify(question.request)}) ON CONFLICT DO NOTHING`;
        return find(session_id, question_id) as QuestionRecord;
      }),
    async find({ session_id, agent_id, kind, tool_name, digest }) {
      const rows = query<QuestionRow>`SELECT ${raw(COLUMNS)}
        WHERE session_id = ${session_id} AND agent_id = ${agent_id} AND kind = ${kind}
        AND tool_name = ${asColumn(tool_name)}
           AND digest = ${digest} AND state IN ('open', 'answered') ORDER BY asked_at LIMIT 1`;
      return rows.map(toQuestionRecord)[0];
    },
    get: async (session_id, question_id) => find(session_id, question_id),
    answer: async (session_id, question_id, { answer, answered_by, answered_at, used = false }) =>
      transaction(() => {
        const change = raw(used ? "state = 'used', request = NULL" : "state = 'answered'");
        const { content: _typed, ...kept } = answer;
        const taken = query`UPDATE questions SET ${change}, answer = ${JSON.stringify(used ? kept : answer)},
             answered_by = ${asColumn(answered_by)}, answered_at = ${answered_at}
           WHERE session_no = ${sessionNumber(session_id)} AND question_id = ${question_id}
             AND state = 'open' RETURNING question_id`;
        return { taken: taken.length > 0, question: find(session_id, question_id) };
      }),
    async settle(session_id, question_id, state) {
      transaction(
        () =>
          query`UPDATE questions SET state = ${state}, request = NULL, answer = ${raw(KEPT_OF_ANSWER)}
             WHERE session_no = ${sessionNumber(session_id)} AND question_id = ${question_id} AND state IN ('open', 'answered')`,
      );
    },
    async withdrawAll(session_id) {
      const session_no = sessionNumber(session_id);
      const [any] = query`SELECT 1 FROM questions
        WHERE session_no = ${session_no} AND state IN ('open', 'answered') LIMIT 1`;
      if (any === undefined) return;
      transaction(
        () =>
          query`UPDATE questions SET state = 'withdrawn', request = NULL, answer = ${raw(KEPT_OF_ANSWER)}
             WHERE session_no = ${session_no} AND state IN ('open', 'answered')`,
      );
    },
    async list(session_id) {
      const rows = query<QuestionRow>`SELECT ${raw(COLUMNS)}
        WHERE state IN ('open', 'answered') AND session_id = coalesce(${session_id ?? null}, session_id)
           ORDER BY asked_at, question_id`;
      return rows.map(toQuestionRecord);
    },
  };

  function find(session_id: string, question_id: string): QuestionRecord | undefined {
    const rows = query<QuestionRow>`SELECT ${raw(COLUMNS)}
      WHERE session_id = ${session_id} AND question_id = ${question_id}`;
    return rows.map(toQuestionRecord)[0];
  }
}

/** What the user typed into a form is kept no longer than it is needed. */
const KEPT_OF_ANSWER = "json_remove(answer, '$.content')";

interface QuestionRow {
  session_no: number;
  session_id: string;
  question_id: string;
  run_id: string;
  agent_id: string;
  tool_call_id: string;
  kind: QuestionRecord["kind"];
  tool_name: string;
  digest: string;
  asked_at: string;
  state: QuestionRecord["state"];
  request: string | null;
  answer: string | null;
  answered_by: string | null;
  answered_at: string | null;
}

function toQuestionRecord({ request, answer, ...row }: QuestionRow): QuestionRecord {
  const { session_no: _no, ...record } = omitNulls({
    ...row,
    tool_call_id: fromColumn(row.tool_call_id),
    tool_name: fromColumn(row.tool_name),
    answered_by: fromColumn(row.answered_by),
    request: request === null ? null : (JSON.parse(request) as JsonObject),
    answer: answer === null ? null : (JSON.parse(answer) as JsonObject),
  });
  return record;
}
