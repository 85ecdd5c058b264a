// Questions on SQLite. Each change is one statement that says what it expects to find, so that of two processes that answer
// at once one learns that it was second.

import type { JsonObject } from "@soong/core";
import type { QuestionRecord, QuestionStorage } from "../contract/store.ts";
import type { Query } from "../session/session-reader.ts";
import { asColumn, fromColumn } from "../sqlite/sqlite-error.ts";

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
        query(
          `INSERT INTO questions (session_no, question_id, run_id, agent_id, tool_call_id, kind,
             tool_name, digest, asked_at, state, request)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?) ON CONFLICT DO NOTHING`,
          sessionNumber(session_id),
          question_id,
          question.run_id,
          question.agent_id,
          asColumn(question.tool_call_id),
          question.kind,
          asColumn(question.tool_name),
          question.digest,
          question.asked_at,
          // Its text is plain, for any content.
          JSON.stringify(question.request),
        );
        return find(session_id, question_id) as QuestionRecord;
      }),
    async find({ session_id, agent_id, kind, tool_name, digest }) {
      const rows = query(
        `SELECT ${COLUMNS} WHERE session_id = ? AND agent_id = ? AND kind = ? AND tool_name = ?
           AND digest = ? AND state IN ('open', 'answered') ORDER BY asked_at LIMIT 1`,
        session_id,
        agent_id,
        kind,
        asColumn(tool_name),
        digest,
      ) as QuestionRow[];
      return rows.map(recordOf)[0];
    },
    get: async (session_id, question_id) => find(session_id, question_id),
    answer: async (session_id, question_id, { answer, answered_by, answered_at, used = false }) =>
      transaction(() => {
        const change = used ? `state = 'used', request = NULL` : `state = 'answered'`;
        const kept = used ? "json_remove(?, '$.content')" : "?";
        const taken = query(
          `UPDATE questions SET ${change}, answer = ${kept}, answered_by = ?, answered_at = ?
             WHERE session_no = ? AND question_id = ? AND state = 'open' RETURNING question_id`,
          JSON.stringify(answer),
          asColumn(answered_by),
          answered_at,
          sessionNumber(session_id),
          question_id,
        );
        return { taken: taken.length > 0, question: find(session_id, question_id) };
      }),
    async settle(session_id, question_id, state) {
      transaction(() =>
        query(
          `UPDATE questions SET state = ?, request = NULL, answer = ${KEPT_OF_ANSWER}
             WHERE session_no = ? AND question_id = ? AND state IN ('open', 'answered')`,
          state,
          sessionNumber(session_id),
          question_id,
        ),
      );
    },
    async withdrawAll(session_id) {
      const session_no = sessionNumber(session_id);
      const [any] = query(
        "SELECT 1 FROM questions WHERE session_no = ? AND state IN ('open', 'answered') LIMIT 1",
        session_no,
      );
      if (any === undefined) return;
      transaction(() =>
        query(
          `UPDATE questions SET state = 'withdrawn', request = NULL, answer = ${KEPT_OF_ANSWER}
             WHERE session_no = ? AND state IN ('open', 'answered')`,
          session_no,
        ),
      );
    },
    async list(session_id) {
      const rows = query(
        `SELECT ${COLUMNS} WHERE state IN ('open', 'answered') AND session_id = coalesce(?, session_id)
           ORDER BY asked_at, question_id`,
        session_id ?? null,
      ) as QuestionRow[];
      return rows.map(recordOf);
    },
  };

  function find(session_id: string, question_id: string): QuestionRecord | undefined {
    const rows = query(
      `SELECT ${COLUMNS} WHERE session_id = ? AND question_id = ?`,
      session_id,
      question_id,
    ) as QuestionRow[];
    return rows.map(recordOf)[0];
  }
}

/** What the user typed into a form is kept no longer than it is needed. */
const KEPT_OF_ANSWER = "json_remove(answer, '$.content')";

interface QuestionRow {
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

function recordOf(row: QuestionRow): QuestionRecord {
  const { session_id, question_id, run_id, agent_id, kind, digest, asked_at, state } = row;
  return {
    session_id,
    question_id,
    run_id,
    agent_id,
    tool_call_id: fromColumn(row.tool_call_id),
    kind,
    tool_name: fromColumn(row.tool_name),
    digest,
    asked_at,
    state,
    ...(row.request === null ? {} : { request: parsed(row.request) }),
    ...(row.answer === null ? {} : { answer: parsed(row.answer) }),
    ...(row.answered_by === null ? {} : { answered_by: fromColumn(row.answered_by) }),
    ...(row.answered_at === null ? {} : { answered_at: row.answered_at }),
  };
}

function parsed(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}
