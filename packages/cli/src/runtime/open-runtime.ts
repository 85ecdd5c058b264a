// A runtime: kernel, tools, hooks, policy and store, put together from the config of a home for one project.
// Commands, a run and a conversation all stand on this; nothing else assembles them.

import {
  createKernel,
  type AskElicitation,
  type AskPermission,
  type Kernel,
  type Mode,
  type PolicyInput,
  type Roots,
  type Session,
  type SessionOptions,
} from "@soong/core";
import type { NewSession, OpenSession, Store } from "@soong/store";
import { kernelConfigOf, policyOf, type LoadedConfig } from "../config/index.ts";
import { secretsOf } from "./secrets.ts";
import { ownHooks } from "./own-hooks.ts";
import { ownTools } from "./own-tools.ts";
import { placesOf } from "./places.ts";

export interface RuntimeOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project. */
  readonly cwd: string;
  readonly config: LoadedConfig;
  readonly flags?: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
    readonly mode?: Mode;
  };
  /** The person to ask. Nobody: whatever needs asking is denied. */
  readonly ask?: AskPermission;
  readonly elicit?: AskElicitation;
}

export interface Runtime {
  readonly kernel: Kernel;
  readonly roots: Roots;
  readonly policy: PolicyInput;
  /** Opened when first asked for: looking needs none. */
  store(): Promise<Store>;
  /** A session that is kept: a new one, or one that is there, by its id. */
  openSession(which?: NewSession | { readonly resume: string }): Promise<KeptSession>;
  /** A session of which nothing is kept and that starts nothing: to look, not to act. */
  openPassingSession(): Promise<Session>;
  /** Lets go of everything that is open. May be called twice. */
  close(): Promise<void>;
}

export interface KeptSession {
  readonly session: Session;
  readonly kept: OpenSession;
  /** Everything is on disk and others may open it. */
  close(): Promise<void>;
}

export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { env, config, flags = {} } = options;
  const { values, home } = config;
  const places = await placesOf(options.cwd, home, values.tools.write_roots);
  const { roots } = places;
  const { allow = [], deny = [], mode } = flags;
  const policy: PolicyInput = {
    ...policyOf(values, { allow, deny, ...(mode === undefined ? {} : { mode }) }),
    ...places.policy,
  };
  const { tools, sources } = await ownTools(home, values);
  const hooks = await ownHooks(home, roots.project);
  const kernel = createKernel({ tools, sources, config: kernelConfigOf(values) });
  const ofEverySession: SessionOptions = { policy, roots, secrets: secretsOf(values, env) };
  const open = new Set<KeptSession>();
  let opening: Promise<Store> | undefined;

  return {
    kernel,
    roots,
    policy,
    store,
    async openSession(which = {}) {
      const from = await store();
      const kept =
        "resume" in which
          ? await from.openSession(which.resume)
          : await from.createSession({ project: roots.project, ...which });
      try {
        return await hold(kept);
      } catch (error) {
        await kept.close();
        throw error;
      }
    },
    openPassingSession: () =>
      kernel.openSession({
        ...ofEverySession,
        hooks: hooks.filter(({ event }) => event !== "SessionStart"),
      }),
    async close() {
      for (const session of open) await session.close();
      const opened = await opening?.catch(() => undefined);
      await opened?.close();
    },
  };

  function store(): Promise<Store> {
    opening ??= import("@soong/store").then(({ openStore }) => openStore({ directory: home }));
    return opening;
  }

  async function hold(kept: OpenSession): Promise<KeptSession> {
    const { session_id, journal, artifacts, lastSeq } = kept;
    const session = await kernel.openSession({
      ...ofEverySession,
      session_id,
      journal,
      artifacts,
      ...(lastSeq === undefined ? {} : { lastSeq }),
      hooks,
      ...(options.ask === undefined ? {} : { ask: options.ask }),
      ...(options.elicit === undefined ? {} : { elicit: options.elicit }),
    });
    const held: KeptSession = {
      session,
      kept,
      async close() {
        open.delete(held);
        try {
          await session.close();
        } finally {
          await kept.close();
        }
      },
    };
    open.add(held);
    return held;
  }
}
