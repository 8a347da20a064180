import { createHash } from 'node:crypto';
import { type OAuthServer, toOAuthServer } from '../../../agent/mcp/accounts/accounts.ts';
import type { ServerConfig } from '../../../agent/mcp/server-config.ts';
import { withDeadline } from '../../../agent/process/deadline.ts';
import type { Clock } from '../../../clock.ts';
import type { Environment } from '../../../environment.ts';
import type { Ids } from '../../../ids.ts';
import type { Log } from '../../../log.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Store } from '../../store/store.ts';
import type { Users } from '../../users/users.ts';
import { createOAuthFetch, RefusedAddress } from './oauth-fetch.ts';
import { oauthCodeOf, ProviderUnfit } from './oauth-protocol.ts';

/** What accounts at tool servers need from elsewhere. */
export interface ConsentDeps {
  store: Pick<Store, 'db' | 'commit'>;
  vault: Pick<Vault, 'commitSealed' | 'open'>;
  users: Pick<Users, 'boundsOf' | 'find' | 'onChanged' | 'count'>;
  /** The tool servers of the configuration and the database, read at each use. */
  live: {
    readonly mcp: {
      readonly servers: Readonly<Record<string, ServerConfig>>;
      /** Where a document describes the daemon to providers. */
      readonly clientMetadataUrl?: string | undefined;
    };
    readonly privateHosts: readonly string[];
  };
  environment: Environment;
  fetch: typeof fetch;
  /** The address at which browsers reach the daemon. */
  baseUrl(): string;
  /** No output of a tool may show these texts. They replace those of the call before. */
  hide(tokens: Iterable<string>): void;
  clock: Clock;
  ids: Pick<Ids, 'secret'>;
  log: Log;
}

/** Undefined: there is no enabled server of this name that is used with accounts. */
export function findOAuthServer({ live }: Pick<ConsentDeps, 'live'>, name: string): OAuthServer | undefined {
  const config = Object.hasOwn(live.mcp.servers, name) ? live.mcp.servers[name] : undefined;
  return config?.enabled ? toOAuthServer(name, config) : undefined;
}

const ASKS_MS = 20_000;

/** Makes requests for a server, to it and to its provider, within a time limit. */
// biome-ignore lint/complexity/useMaxParams: only revocations end before their time.
export async function askProvider<T>(
  url: string,
  deps: Pick<ConsentDeps, 'fetch' | 'live' | 'clock'>,
  ask: (fetch: ReturnType<typeof createOAuthFetch>) => Promise<T>,
  stopping = new AbortController().signal,
): Promise<T> {
  using deadline = withDeadline(stopping, { clock: deps.clock, ms: ASKS_MS });
  const { signal } = deadline;
  return await ask(
    createOAuthFetch({ fetch: deps.fetch, serverUrl: url, privateHosts: deps.live.privateHosts, signal }),
  );
}

/** Why a request failed, for people and the log. The words of others, which may hold anything, are left out. */
export async function whyFailed(error: unknown): Promise<string> {
  if (error instanceof ProviderUnfit || error instanceof RefusedAddress) return error.message;
  const code = await oauthCodeOf(error);
  if (code !== undefined) return `its provider refused (${/^[a-z_]{1,40}$/.test(code) ? code : 'unknown reason'})`;
  return error instanceof Error && error.name === 'IssuerMismatchError'
    ? 'the answer came from another provider than the one that was asked'
    : 'it or its provider did not answer as they should';
}

/** In hex. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The scopes of all lists, each once. */
export const union = (...lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())];
