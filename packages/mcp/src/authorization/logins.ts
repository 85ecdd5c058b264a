// The logins of the user: one file for each server, mode 0600, in a folder of the home (MCP-8). Changed by one
// process at a time, because a refresh token is good for one use. The token belongs to one server at one address, and to
// the authorization server that issued it; the client it was issued to is kept with it.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@soong/core";
import {
  checkValue,
  readJsonFile,
  shape,
  withFileLock,
  writeWholeFile,
  type Shape,
} from "@soong/platform";
import type { McpSecret, McpServerEntry } from "../settings/index.ts";
import { McpLoginFailure } from "./login-failure.ts";

export interface StoredLogin {
  readonly version: 1;
  /** The only address the token is sent to. */
  readonly server_url: string;
  /** Where the server says who issues its tokens, if it named a place. */
  readonly resource_metadata_url?: string;
  /** Asked for at the last login. */
  readonly requested_scopes: readonly string[];
  /** Asked for by the server since: they need another login. */
  readonly wanted_scopes: readonly string[];
  /** For the next login. */
  readonly client?: StoredClient;
  readonly tokens?: StoredTokens;
}

export interface StoredClient {
  readonly issuer: string;
  readonly client_id: string;
  /** By us, with this issuer; else it is in the entry, and so is its secret. */
  readonly registered: boolean;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method?: string;
  /** Milliseconds since 1970. */
  readonly secret_expires_at?: number;
  readonly redirect_uri: string;
}

export interface StoredTokens {
  readonly client: StoredClient;
  readonly access_token: string;
  readonly refresh_token?: string;
  /** As granted; the requested ones where the issuer did not say. */
  readonly scopes: readonly string[];
  /** Milliseconds since 1970. */
  readonly expires_at?: number;
}

const { anyText: text, optional, object } = shape;
const texts = shape.list(text);
const version: Shape<1> = (value, place) => {
  if (value !== 1) place.report("is not 1");
};
const time: Shape<number> = (value, place) => {
  if (typeof value !== "number") place.report("is not a number");
};

const CLIENT = object(
  {
    issuer: text,
    client_id: text,
    registered: shape.flag,
    client_secret: optional(text),
    token_endpoint_auth_method: optional(text),
    secret_expires_at: optional(time),
    redirect_uri: text,
  },
  { mayHaveOthers: true },
);

const TOKENS = object(
  {
    client: CLIENT,
    access_token: text,
    refresh_token: optional(text),
    scopes: texts,
    expires_at: optional(time),
  },
  { mayHaveOthers: true },
);

const LOGIN: Shape<StoredLogin> = object(
  {
    version,
    server_url: text,
    resource_metadata_url: optional(text),
    requested_scopes: texts,
    wanted_scopes: texts,
    client: optional(CLIENT),
    tokens: optional(TOKENS),
  },
  { mayHaveOthers: true },
);

export function secretsOfLogin({ client, tokens }: StoredLogin): readonly string[] {
  const values = [
    tokens?.access_token,
    tokens?.refresh_token,
    tokens?.client.client_secret,
    client?.client_secret,
  ];
  return [...new Set(values.filter((value) => value !== undefined))];
}

export interface McpLogins {
  read(server_id: string): Promise<StoredLogin | undefined>;
  /** No one else changes this server's login until `work` is done. */
  change<T>(
    server_id: string,
    work: (login: StoredLogin | undefined, save: SaveLogin) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Also what cannot be read. Says whether there was anything. */
  remove(server_id: string): Promise<boolean>;
  status(entry: McpServerEntry): Promise<McpLoginStatus>;
  /** All tokens of the home, for the redactor. What cannot be read is omitted. */
  secrets(): Promise<readonly McpSecret[]>;
}

export type SaveLogin = (login: StoredLogin) => Promise<void>;

export type McpLoginStatus =
  | { readonly kind: "none" }
  | {
      readonly kind: "logged_in";
      readonly issuer: string;
      readonly scopes: readonly string[];
      /** Scopes the server has asked for since; another login gives them. */
      readonly wanted_scopes: readonly string[];
      /** Milliseconds since 1970. */
      readonly expires_at?: number;
      /** Whether it is renewed without the user. */
      readonly renewable: boolean;
    };

const ENDING = ".json";
/** Longer than a refresh may take. */
const WAIT_MS = 150_000;

export function openMcpLogins(folder: string): McpLogins {
  const pathOf = (server_id: string) => join(folder, `${server_id}${ENDING}`);

  async function read(server_id: string): Promise<StoredLogin | undefined> {
    const path = pathOf(server_id);
    const about = `It holds a login: soong mcp logout ${server_id} removes it`;
    let given: unknown;
    try {
      given = await readJsonFile(path, about);
    } catch (error) {
      throw notStored(error);
    }
    if (given !== undefined && checkValue(given, LOGIN).length > 0) {
      throw new McpLoginFailure("not_stored", `${path} is not a login of this version. ${about}`);
    }
    return given as StoredLogin | undefined;
  }

  return {
    read,
    async change(server_id, work, signal) {
      const save: SaveLogin = (next) =>
        writeWholeFile(pathOf(server_id), `${JSON.stringify(next, undefined, 1)}\n`);
      try {
        const change = async () => work(await read(server_id), save);
        return await withFileLock(pathOf(server_id), { signal, waitMs: WAIT_MS }, change);
      } catch (error) {
        throw error instanceof McpLoginFailure ? error : notStored(error);
      }
    },
    async remove(server_id) {
      const path = pathOf(server_id);
      try {
        await withFileLock(path, { waitMs: WAIT_MS }, () => rm(path));
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
        throw notStored(error);
      }
    },
    async status({ server_id, transport }) {
      if (transport.kind !== "http") return { kind: "none" };
      const login = await read(server_id);
      const tokens = login?.server_url === transport.url ? login.tokens : undefined;
      if (login === undefined || tokens === undefined) return { kind: "none" };
      return {
        kind: "logged_in",
        issuer: tokens.client.issuer,
        scopes: tokens.scopes,
        wanted_scopes: login.wanted_scopes,
        expires_at: tokens.expires_at,
        renewable: tokens.refresh_token !== undefined,
      };
    },
    async secrets() {
      const names = await readdir(folder).catch((): string[] => []);
      const ids = names.flatMap((name) =>
        name.endsWith(ENDING) ? [name.slice(0, -ENDING.length)] : [],
      );
      const found = await Promise.all(ids.map((id) => read(id).catch(() => undefined)));
      return found.flatMap((login, index) =>
        login === undefined
          ? []
          : secretsOfLogin(login).map((value) => ({ name: `login of ${ids[index]}`, value })),
      );
    },
  };
}

function notStored(error: unknown): McpLoginFailure {
  return new McpLoginFailure("not_stored", messageOf(error));
}
