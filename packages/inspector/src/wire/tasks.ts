// Tasks and their steps, as far as the page draws them.

export interface TaskRow {
  task_id: string;
  session_id: string;
  title: string;
  goal: string;
  status: string;
  created_at: string;
  updated_at: string;
  ended_at?: string;
  reason?: string;
  summary?: string;
  /** Steps by status. */
  counts: Readonly<Record<string, number>>;
}

export interface StepRow {
  step_id: string;
  title: string;
  instructions: string;
  status: string;
  depends_on: readonly string[];
  attempts: number;
  max_attempts: number;
  /** Who works on it. */
  claimed_by?: string;
  lease_until?: string;
  note?: string;
  reason?: string;
  summary?: string;
  failure?: string;
  started_at?: string;
  ended_at?: string;
}

export interface TaskList {
  tasks: TaskRow[];
}

export interface TaskGraph {
  task: TaskRow;
  steps: StepRow[];
}
