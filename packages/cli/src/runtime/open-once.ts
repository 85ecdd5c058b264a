// What a runtime opens with its first use: a store, a queue, a session. After a failure the next use tries again; a process may
// live longer than a database is away.

export interface OpenOnce<T> {
  (): Promise<T>;
  /** What is open. Waits for an opening that is under way, and opens nothing. */
  opened(): Promise<T | undefined>;
}

export function openOnce<T>(open: () => Promise<T>): OpenOnce<T> {
  let opening: Promise<T> | undefined;
  const use = async (): Promise<T> => {
    const mine = (opening ??= open());
    try {
      return await mine;
    } catch (error) {
      if (opening === mine) opening = undefined;
      throw error;
    }
  };
  return Object.assign(use, { opened: async () => opening?.catch(() => undefined) });
}
