// Questions in the tables. Each change is one statement that says what it expects to find, so that of two processes that answer
// at once one learns that it was second.

import type { ClusterStorage } from "../contract/cluster.ts";
import type { QuestionRecord, QuestionStorage } from "../contract/store.ts";
import { asColumn, fromColumn, omitNulls, readObject } from "../sql/columns.ts";
import {
  forUpdateOf,
  raw,
  sql,
  sqlRow,
  sqlWrite,
  type SqlDatabase,
  type SqlWriter,
  type Steps,
} from "../sql/sql.ts";

export interface QuestionTableParts {
  readonly database: SqlDatabase;
  /** Its `transaction` throws on a store that is only read. */
  readonly writer: Pick<SqlWriter, "transaction">;
  /** Throws where there is no such session. */
  readonly sessionNumber: (session_id: string) => Steps<number>;
}

const COLUMNS = raw(`questions.*, sessions.session_id AS session_id
  FROM questions JOIN sessions USING (session_no)`);

export function createQuestionTable(parts: QuestionTableParts): QuestionStorage {
  const { database, writer, sessionNumber } = parts;

  return {
    ask: async (question) =>
      writer.transaction(function* () {
        const { session_id, question_id } = question;
        const no = yield* sessionNumber(session_id);
        yield* sql`INSERT INTO questions (session_no, question_id, run_id, agent_id, tool_call_id, kind,
             tool_name, digest, asked_at, state, request)
           VALUES (${no}, ${question_id}, ${question.run_id}, ${question.agent_id}, ${asColumn(question.tool_call_id)}, ${question.kind}, ${asColumn(question.tool_name)}, ${question.digest}, ${question.asked_at}, 'open', ${JSON.stringify(question.request)}) ON CONFLICT DO NOTHING`;
        return (yield* find(session_id, question_id)) as QuestionRecord;
      }),
    async find({ session_id, agent_id, kind, tool_name, digest }) {
      const row = await database.run(sqlRow<QuestionRow>`SELECT ${COLUMNS}
        WHERE session_id = ${session_id} AND agent_id = ${agent_id} AND kind = ${kind}
        AND tool_name = ${asColumn(tool_name)}
           AND digest = ${digest} AND state IN ('open', 'answered') ORDER BY asked_at LIMIT 1`);
      return row && toQuestionRecord(row);
    },
    get: async (session_id, question_id) => database.run(find(session_id, question_id)),
    answer: async (session_id, question_id, { answer, answered_by, answered_at, used = false }) =>
      writer.transaction(function* () {
        const no = yield* sessionNumber(session_id);
        const change = raw(used ? "state = 'used', request = NULL" : "state = 'answered'");
        const { content: _typed, ...kept } = answer;
        const taken =
          yield* sql`UPDATE questions SET ${change}, answer = ${JSON.stringify(used ? kept : answer)},
             answered_by = ${asColumn(answered_by)}, answered_at = ${answered_at}
           WHERE session_no = ${no} AND question_id = ${question_id}
             AND state = 'open' RETURNING question_id`;
        return { taken: taken.length > 0, question: yield* find(session_id, question_id) };
      }),
    async settle(session_id, question_id, state) {
      await writer.transaction(function* () {
        const no = yield* sessionNumber(session_id);
        yield* settleAll(no, state, question_id);
      });
    },
    async withdrawAll(session_id) {
      const no = await database.run(sessionNumber(session_id));
      const any = await database.run(sqlRow`SELECT 1 FROM questions
        WHERE session_no = ${no} AND state IN ('open', 'answered') LIMIT 1`);
      if (any === undefined) return;
      await writer.transaction(() => settleAll(no, "withdrawn"));
    },
    async list(session_id) {
      const rows = await database.run(sql<QuestionRow>`SELECT ${COLUMNS}
        WHERE state IN ('open', 'answered') AND session_id = coalesce(${session_id ?? null}, session_id)
           ORDER BY asked_at, question_id`);
      return rows.map(toQuestionRecord);
    },
  };

  function* find(session_id: string, question_id: string): Steps<QuestionRecord | undefined> {
    const row = yield* sqlRow<QuestionRow>`SELECT ${COLUMNS}
      WHERE session_id = ${session_id} AND question_id = ${question_id}`;
    return row && toQuestionRecord(row);
  }
}

/** Of a session, or one of them. */
function* settleAll(no: number, state: "used" | "withdrawn", question_id?: string): Steps<void> {
  const one = question_id ?? null;
  const rows = yield* sql<Pick<QuestionRow, "question_id" | "answer">>`SELECT question_id, answer
    FROM questions WHERE session_no = ${no} AND state IN ('open', 'answered')
      AND question_id = coalesce(${one}, question_id) ${forUpdateOf("questions")}`;
  for (const { question_id: id, answer } of rows) {
    yield* sqlWrite`UPDATE questions SET state = ${state}, request = NULL, answer = ${dropTyped(answer)}
      WHERE session_no = ${no} AND question_id = ${id}`;
  }
}

/** What the user typed into a form is kept no longer than it is needed. Not by the database: PostgreSQL's JSON has no NUL. */
function dropTyped(answer: string | null): string | null {
  if (answer === null) return null;
  const { content: _typed, ...kept } = readObject(answer) ?? {};
  return JSON.stringify(kept);
}

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
    request: readObject(request) ?? null,
    answer: readObject(answer) ?? null,
  });
  return record;
}

/** Who waits for a question or an answer on another machine looks at once. */
export function wakeForQuestions(
  table: QuestionStorage,
  cluster: Pick<ClusterStorage, "wake"> | undefined,
): QuestionStorage {
  if (cluster === undefined) return table;
  return {
    ...table,
    async ask(question) {
      const asked = await table.ask(question);
      wake(question.session_id);
      return asked;
    },
    async answer(session_id, ...more) {
      const taken = await table.answer(session_id, ...more);
      wake(session_id);
      return taken;
    },
    async settle(session_id, ...more) {
      await table.settle(session_id, ...more);
      wake(session_id);
    },
  };

  function wake(session_id: string): void {
    cluster?.wake(`questions/${session_id}`);
    cluster?.wake("questions");
  }
}
