import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { systemTimers } from '../protocol/client/timers.ts';
import { type ConnectionStatus, createGatewayClient, type GatewayClient } from '../protocol/client/ws-client.ts';
import { findOperatorToken } from '../src/gateway/auth/operator-token.ts';
import { readDaemonFile } from './daemon-file.ts';
import { resolveHome, type Surroundings } from './options.ts';
import { NoDaemonError, UsageError } from './start-error.ts';

/** The flags that say which daemon a command speaks to. */
export interface TargetFlags {
  home?: string | undefined;
  url?: string | undefined;
  token?: string | undefined;
  tokenFile?: string | undefined;
}

export interface Target {
  /** Of the WebSocket. */
  url: string;
  token: string | undefined;
  /** The folder whose daemon it is; undefined when the address was given. */
  home: string | undefined;
}

interface Caller {
  target: Target;
  /** Headgate's, of the program that calls. */
  version: string;
}

/** Which daemon is meant: flags win over the environment, that over the daemon that runs in the home folder. */
export async function resolveTarget(flags: TargetFlags, around: Surroundings): Promise<Target> {
  const { environment } = around;
  const given = flags.url ?? (environment.HEADGATE_URL || undefined);
  const token = flags.token ?? (await readTokenFile(flags, around)) ?? (environment.HEADGATE_TOKEN || undefined);
  const home = resolveHome(flags, around);
  const running = await readDaemonFile(home);
  if (given === undefined) {
    if (running === undefined) throw new NoDaemonError(nobodyRuns(home));
    return { url: toSocketUrl(running.url), token: token ?? (await findOperatorToken(home)), home };
  }
  const url = toSocketUrl(given);
  // The home's token goes only to the home's own daemon, not to whatever address was typed.
  const own = running !== undefined && toSocketUrl(running.url) === url;
  return { url, token: token ?? (own ? await findOperatorToken(home) : undefined), home: own ? home : undefined };
}

/** Runs `use` with a connection that ends with it. */
export async function withClient<T>(
  { target, version }: Caller,
  use: (client: GatewayClient) => Promise<T>,
): Promise<T> {
  const client = createClient({ target, version }, { reconnect: false });
  try {
    await connect(client, target);
    return await use(client);
  } finally {
    client.close();
  }
}

/** A daemon of this machine is back within moments: the usual waits between attempts would only be noticed. */
const LOCAL_RETRY_MS = 500;

/**
 * A connection that heals itself once it was open. Rejects when nobody answers now; `onStatus` hears of everything after
 * that.
 */
export async function openClient(
  { target, version }: Caller,
  onStatus: (status: ConnectionStatus) => void,
): Promise<GatewayClient> {
  await withClient({ target, version }, async () => undefined);
  const client = createClient(
    { target, version },
    {
      onStatus(status) {
        onStatus(status);
        if (status.kind === 'waiting' && target.home !== undefined) {
          systemTimers.after(LOCAL_RETRY_MS, () => client.retryNow());
        }
      },
    },
  );
  await client.connect();
  return client;
}

function createClient(
  { target, version }: Caller,
  options: { reconnect?: boolean; onStatus?(status: ConnectionStatus): void },
): GatewayClient {
  return createGatewayClient({
    url: target.url,
    token: target.token,
    client: { name: 'headgate', version, mode: 'cli', platform: process.platform },
    ...options,
  });
}

async function connect(client: GatewayClient, { url, home }: Target): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    // Refused by a daemon: its words say more than ours.
    if (error instanceof Error && error.name === 'RequestError') throw error;
    const message = home === undefined ? `No daemon answers at ${url}.` : nobodyRuns(home);
    throw new NoDaemonError(message, { cause: error });
  }
}

const nobodyRuns = (home: string): string =>
  `No daemon is running in ${home}. Start one (headgate start), or say where it is with --url or --home.`;

/** A file keeps a token out of the list of processes. */
async function readTokenFile({ tokenFile }: TargetFlags, { cwd }: Surroundings): Promise<string | undefined> {
  if (tokenFile === undefined) return undefined;
  try {
    return (await readFile(path.resolve(cwd, tokenFile), 'utf8')).trim();
  } catch (error) {
    throw new UsageError(`--token-file: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The WebSocket address of a daemon, from any form of its address. */
export function toSocketUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^(http|ws)s?:$/.test(url.protocol)) {
    throw new UsageError(`"${text}" is no address: use one such as http://127.0.0.1:7717.`);
  }
  url.protocol = url.protocol.replace('http', 'ws');
  return url.href;
}
