// Something that a user asks the server to do: whether it is under way, and why it failed.

import { useState } from "preact/hooks";
import { errorText } from "./client.ts";

export interface Action {
  isRunning: boolean;
  problem: string | undefined;
  /** True once it is done. */
  run: (work: () => Promise<void>) => Promise<boolean>;
}

export function useAction(): Action {
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<string>();
  return {
    isRunning,
    problem,
    async run(work) {
      setRunning(true);
      setProblem(undefined);
      try {
        await work();
        return true;
      } catch (error) {
        setProblem(errorText(error));
        return false;
      } finally {
        setRunning(false);
      }
    },
  };
}
