// The tables, version by version. A version that was released is never edited: a change is a new one.

export interface Migration {
  readonly version: number;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sql: `
CREATE TABLE sessions (
  session_no INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  title TEXT,
  project TEXT,
  last_seq INTEGER NOT NULL,
  head_hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  open_state TEXT NOT NULL,
  holder TEXT
);

CREATE TABLE agents (
  session_no INTEGER NOT NULL,
  agent_index INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  parent_agent_id TEXT,
  active_node_id TEXT,
  PRIMARY KEY (session_no, agent_index),
  UNIQUE (session_no, agent_id)
);

CREATE TABLE runs (
  session_no INTEGER NOT NULL,
  run_index INTEGER NOT NULL,
  run_id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL,
  parent_run_id TEXT,
  role TEXT,
  status TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  last_run_seq INTEGER NOT NULL,
  PRIMARY KEY (session_no, run_index)
);

CREATE TABLE calls (
  session_no INTEGER NOT NULL,
  requested_seq INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  started_seq INTEGER,
  ended_seq INTEGER NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (session_no, requested_seq)
) WITHOUT ROWID;

CREATE TABLE facts (
  place INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  run_index INTEGER,
  tool_call_id TEXT,
  line TEXT NOT NULL
);

CREATE TABLE nodes (
  session_no INTEGER NOT NULL,
  node_id TEXT NOT NULL,
  parent_id TEXT,
  seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (session_no, node_id)
);
CREATE INDEX nodes_by_parent ON nodes (session_no, parent_id, seq);

CREATE TABLE artifacts (
  session_no INTEGER NOT NULL,
  artifact_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  tool_call_id TEXT,
  created_at TEXT NOT NULL,
  size INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (session_no, artifact_id)
);
CREATE INDEX artifacts_by_call ON artifacts (session_no, run_id, tool_call_id);

CREATE TABLE tombstones (
  session_id TEXT PRIMARY KEY,
  created_at TEXT NOT NULL,
  removed_at TEXT NOT NULL,
  reason TEXT,
  last_seq INTEGER NOT NULL,
  head_hash TEXT NOT NULL
);

CREATE TABLE leavings (
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  PRIMARY KEY (session_id, run_id)
);
`,
  },
  {
    version: 2,
    sql: `
CREATE TABLE tasks (
  task_no INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL UNIQUE,
  session_no INTEGER NOT NULL,
  status TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  content TEXT NOT NULL
);
CREATE INDEX tasks_by_session ON tasks (session_no, task_no);

CREATE TABLE task_steps (
  task_no INTEGER NOT NULL,
  step_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  status TEXT NOT NULL,
  open_dependencies INTEGER NOT NULL,
  run_id TEXT,
  lease_expires_at INTEGER,
  state TEXT NOT NULL,
  PRIMARY KEY (task_no, step_id)
) WITHOUT ROWID;
CREATE INDEX task_steps_by_position ON task_steps (task_no, position);
CREATE INDEX task_steps_by_status ON task_steps (task_no, status, position);
CREATE INDEX task_steps_by_lease ON task_steps (task_no, lease_expires_at)
  WHERE lease_expires_at IS NOT NULL;
CREATE INDEX task_steps_by_run ON task_steps (run_id) WHERE run_id IS NOT NULL;

CREATE TABLE task_step_definitions (
  task_no INTEGER NOT NULL,
  step_id TEXT NOT NULL,
  depends_on TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (task_no, step_id)
) WITHOUT ROWID;

CREATE TABLE task_dependencies (
  task_no INTEGER NOT NULL,
  depends_on TEXT NOT NULL,
  step_id TEXT NOT NULL,
  PRIMARY KEY (task_no, depends_on, step_id)
) WITHOUT ROWID;
`,
  },
  {
    version: 3,
    sql: `
CREATE TABLE questions (
  session_no INTEGER NOT NULL,
  question_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  digest TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  state TEXT NOT NULL,
  request TEXT,
  answer TEXT,
  answered_by TEXT,
  answered_at TEXT,
  PRIMARY KEY (session_no, question_id)
) WITHOUT ROWID;
CREATE INDEX questions_by_state ON questions (state, session_no)
  WHERE state IN ('open', 'answered');
`,
  },
];
