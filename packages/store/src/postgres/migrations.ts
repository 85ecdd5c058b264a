// The tables on PostgreSQL, version by version. A version that was released is never edited: a change is a new one. Columns are
// named as on SQLite, because the same statements read them; `rowid` is the order in which rows came.

import type { Migration } from "../sqlite/migrations.ts";

export const POSTGRES_MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sql: `
CREATE TABLE sessions (
  session_no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_id TEXT COLLATE "C" NOT NULL UNIQUE,
  created_at TEXT COLLATE "C" NOT NULL,
  updated_at TEXT COLLATE "C" NOT NULL,
  title TEXT,
  project TEXT,
  last_seq BIGINT NOT NULL,
  head_hash TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  open_state TEXT NOT NULL,
  holder TEXT,
  epoch BIGINT NOT NULL DEFAULT 0,
  lease_until TIMESTAMPTZ
);
CREATE INDEX sessions_by_use ON sessions (updated_at, session_id);

CREATE TABLE agents (
  session_no BIGINT NOT NULL,
  agent_index INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  parent_agent_id TEXT,
  active_node_id TEXT,
  PRIMARY KEY (session_no, agent_index),
  UNIQUE (session_no, agent_id)
);

CREATE TABLE runs (
  rowid BIGINT GENERATED ALWAYS AS IDENTITY,
  session_no BIGINT NOT NULL,
  run_index INTEGER NOT NULL,
  run_id TEXT COLLATE "C" NOT NULL,
  agent_id TEXT NOT NULL,
  parent_run_id TEXT,
  role TEXT,
  status TEXT NOT NULL,
  started_at TEXT COLLATE "C" NOT NULL,
  ended_at TEXT,
  first_seq BIGINT NOT NULL,
  last_seq BIGINT NOT NULL,
  last_run_seq BIGINT NOT NULL,
  PRIMARY KEY (session_no, run_index),
  CONSTRAINT runs_run_id UNIQUE (run_id)
);

CREATE TABLE calls (
  session_no BIGINT NOT NULL,
  requested_seq BIGINT NOT NULL,
  run_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  started_seq BIGINT,
  ended_seq BIGINT NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (session_no, requested_seq)
);

CREATE TABLE facts (
  place BIGINT PRIMARY KEY,
  type TEXT NOT NULL,
  run_index INTEGER,
  tool_call_id TEXT,
  line TEXT NOT NULL
);

CREATE TABLE nodes (
  rowid BIGINT GENERATED ALWAYS AS IDENTITY,
  session_no BIGINT NOT NULL,
  node_id TEXT NOT NULL,
  parent_id TEXT,
  seq BIGINT NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (session_no, node_id)
);
CREATE INDEX nodes_by_parent ON nodes (session_no, parent_id, seq);
CREATE INDEX nodes_by_rowid ON nodes (rowid);

CREATE TABLE artifacts (
  rowid BIGINT GENERATED ALWAYS AS IDENTITY,
  session_no BIGINT NOT NULL,
  artifact_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  tool_call_id TEXT,
  created_at TEXT COLLATE "C" NOT NULL,
  size BIGINT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (session_no, artifact_id)
);

CREATE TABLE artifact_parts (
  session_no BIGINT NOT NULL,
  sha256 TEXT NOT NULL,
  part INTEGER NOT NULL,
  bytes BYTEA NOT NULL,
  PRIMARY KEY (session_no, sha256, part)
);
ALTER TABLE artifact_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE tombstones (
  rowid BIGINT GENERATED ALWAYS AS IDENTITY,
  session_id TEXT COLLATE "C" PRIMARY KEY,
  created_at TEXT NOT NULL,
  removed_at TEXT COLLATE "C" NOT NULL,
  reason TEXT,
  last_seq BIGINT NOT NULL,
  head_hash TEXT NOT NULL
);

CREATE TABLE leavings (
  session_id TEXT COLLATE "C" NOT NULL,
  run_id TEXT NOT NULL,
  PRIMARY KEY (session_id, run_id)
);

CREATE TABLE tasks (
  task_no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_id TEXT NOT NULL UNIQUE,
  session_no BIGINT NOT NULL,
  status TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  content TEXT NOT NULL
);
CREATE INDEX tasks_by_session ON tasks (session_no, task_no);

CREATE TABLE task_steps (
  task_no BIGINT NOT NULL,
  step_id TEXT NOT NULL,
  position BIGINT NOT NULL,
  status TEXT NOT NULL,
  open_dependencies BIGINT NOT NULL,
  run_id TEXT,
  lease_expires_at BIGINT,
  state TEXT NOT NULL,
  PRIMARY KEY (task_no, step_id)
);
CREATE INDEX task_steps_by_position ON task_steps (task_no, position);
CREATE INDEX task_steps_by_status ON task_steps (task_no, status, position);
CREATE INDEX task_steps_by_lease ON task_steps (task_no, lease_expires_at)
  WHERE lease_expires_at IS NOT NULL;
CREATE UNIQUE INDEX task_steps_by_run ON task_steps (run_id) WHERE run_id IS NOT NULL;

CREATE TABLE task_step_definitions (
  task_no BIGINT NOT NULL,
  step_id TEXT NOT NULL,
  depends_on TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (task_no, step_id)
);

CREATE TABLE task_dependencies (
  task_no BIGINT NOT NULL,
  depends_on TEXT NOT NULL,
  step_id TEXT NOT NULL,
  PRIMARY KEY (task_no, depends_on, step_id)
);

CREATE TABLE questions (
  session_no BIGINT NOT NULL,
  question_id TEXT COLLATE "C" NOT NULL,
  run_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  digest TEXT NOT NULL,
  asked_at TEXT COLLATE "C" NOT NULL,
  state TEXT NOT NULL,
  request TEXT,
  answer TEXT,
  answered_by TEXT,
  answered_at TEXT,
  PRIMARY KEY (session_no, question_id)
);
CREATE INDEX questions_by_state ON questions (state, session_no)
  WHERE state IN ('open', 'answered');

CREATE TABLE workers (
  worker_id TEXT COLLATE "C" PRIMARY KEY,
  pool TEXT COLLATE "C" NOT NULL,
  host TEXT COLLATE "C" NOT NULL,
  pid INTEGER NOT NULL,
  version TEXT NOT NULL,
  concurrency INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  seen_at TIMESTAMPTZ NOT NULL,
  draining BOOLEAN NOT NULL DEFAULT false,
  doing TEXT NOT NULL
);

CREATE TABLE commands (
  command_no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_no BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  command TEXT NOT NULL,
  sent_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
  taken_at TIMESTAMPTZ
);
CREATE INDEX commands_by_session ON commands (session_no);
`,
  },
  {
    version: 2,
    sql: `
CREATE TABLE commit_marks (
  mark TEXT COLLATE "C" PRIMARY KEY,
  is_refused BOOLEAN NOT NULL DEFAULT false,
  made_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX commit_marks_by_age ON commit_marks (made_at);

CREATE TABLE withdrawn_dispatches (
  run_id TEXT COLLATE "C" NOT NULL,
  tool_call_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  withdrawn_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run_id, tool_call_id)
);

-- Workers of version 1 know neither guards nor withdrawals: they stay in "workers", where only dispatches of version 1 look.
CREATE TABLE pool_workers (LIKE workers INCLUDING ALL);
`,
  },
];
