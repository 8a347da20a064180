import path from 'node:path';
import { WebSocket } from 'ws';
import { RequestError } from '../../protocol/client/request-error.ts';
import { systemTimers } from '../../protocol/client/timers.ts';
import { type ConnectionStatus, createGatewayClient, type GatewayClient } from '../../protocol/client/ws-client.ts';
import { wordsOf } from '../../protocol/words-of.ts';
import { readDaemonFile } from '../home/daemon-file.ts';
import { resolveHome, type Surroundings } from '../home/home-path.ts';
import { findOperatorToken } from '../home/operator-token.ts';
import { whyUnreadable } from '../home/why-unreadable.ts';
import { toSocketUrl } from '../node-host/socket-url.ts';
import { NoDaemonError, StartError } from '../start-error.ts';
import { standbyAt } from './commands/cluster/standby-at.ts';
import { readFileAt } from './input/read-input.ts';

/** The flags that choose the daemon. */
export interface TargetFlags {
  home?: string | undefined;
  url?: string | undefined;
  token?: string | undefined;
  tokenFile?: string | undefined;
}

export interface Target {
  /** The WebSocket address. */
  url: string;
  token: string | undefined;
  /** Where the token was found, as in `--token` or `HEADGATE_TOKEN`. */
  tokenFrom: string | undefined;
  /** The daemon's home folder; undefined for an address that is not the home's own daemon. */
  home: string | undefined;
}

interface Caller {
  target: Target;
  /** The version of this program. */
  version: string;
}

/** Chooses the daemon: flags win over the environment, which wins over the daemon that runs in the home folder. */
export async function resolveTarget(flags: TargetFlags, around: Surroundings): Promise<Target> {
  const given = flags.url ?? (around.environment.HEADGATE_URL || undefined);
  const credential = await findGivenToken(flags, around);
  const home = resolveHome(flags, around);
  const running = await readDaemonFile(home).catch((cause: unknown) => {
    throw new StartError(`${path.join(home, 'daemon.json')} cannot be read: ${whyUnreadable(cause)}.`, { cause });
  });
  if (given === undefined) {
    if (running === undefined) throw new NoDaemonError(nobodyRuns(home));
    return { url: toSocketUrl(running.url), ...(credential ?? (await findHomeToken(home))), home };
  }
  const url = toSocketUrl(given);
  // The home's token goes only to the home's own daemon, not to whatever address was typed.
  const own = running !== undefined && toSocketUrl(running.url) === url;
  return { url, ...(credential ?? (own ? await findHomeToken(home) : NO_TOKEN)), home: own ? home : undefined };
}

type Credential = Pick<Target, 'token' | 'tokenFrom'>;

const NO_TOKEN: Credential = { token: undefined, tokenFrom: undefined };

async function findGivenToken(flags: TargetFlags, around: Surroundings): Promise<Credential | undefined> {
  if (flags.token !== undefined) return { token: flags.token, tokenFrom: '--token' };
  const fromFile = await readTokenFile(flags, around);
  if (fromFile !== undefined) return { token: fromFile, tokenFrom: `--token-file ${flags.tokenFile}` };
  const token = around.environment.HEADGATE_TOKEN || undefined;
  return token === undefined ? undefined : { token, tokenFrom: 'HEADGATE_TOKEN' };
}

async function findHomeToken(home: string): Promise<Credential> {
  const token = await findOperatorToken(home).catch((cause: unknown) => {
    throw new StartError(wordsOf(cause), { cause });
  });
  return token === undefined ? NO_TOKEN : { token, tokenFrom: `the home ${home}` };
}

/** Runs `use` with a connection that is closed afterwards. */
export async function withClient<T>(
  { target, version }: Caller,
  use: (client: GatewayClient) => Promise<T>,
): Promise<T> {
  const client = createClient({ target, version }, { reconnect: false, onStatus: () => undefined });
  try {
    await untilConnected(client.connect(), target);
    return await use(client);
  } finally {
    client.close();
  }
}

/** A local daemon restarts within moments, so the usual backoff would only delay the user. */
const LOCAL_RETRY_MS = 500;

/**
 * A connection that reconnects automatically. Rejects if no daemon answers the first attempt; `onStatus` receives all
 * later changes.
 */
export async function openClient(
  { target, version }: Caller,
  onStatus: (status: ConnectionStatus) => void,
): Promise<GatewayClient> {
  const refused = Promise.withResolvers<never>();
  let state: 'first' | 'open' | 'failed' = 'first';
  const client = createClient(
    { target, version },
    {
      reconnect: true,
      onStatus(status) {
        if (status.kind === 'open') state = 'open';
        if (status.kind === 'waiting' && state === 'first') {
          state = 'failed';
          refused.reject(status.error);
        }
        if (state === 'failed') return;
        onStatus(status);
        if (status.kind === 'waiting' && target.home !== undefined) {
          systemTimers.after(LOCAL_RETRY_MS, () => client.retryNow());
        }
      },
    },
  );
  try {
    await untilConnected(Promise.race([client.connect(), refused.promise]), target);
  } catch (error) {
    client.close();
    throw error;
  }
  return client;
}

function createClient(
  { target, version }: Caller,
  { reconnect, onStatus }: { reconnect: boolean; onStatus(status: ConnectionStatus): void },
): GatewayClient {
  return createGatewayClient({
    url: target.url,
    token: target.token,
    WebSocket, // the one of Node takes 25 ms longer to load
    client: { name: 'headgate', version, mode: 'cli', platform: process.platform },
    reconnect,
    onStatus,
  });
}

async function untilConnected(connected: Promise<unknown>, target: Target): Promise<void> {
  try {
    await connected;
  } catch (error) {
    // The daemon's message says more than ours, except for a bare UNAUTHORIZED.
    if (error instanceof RequestError) throw error.code === 'UNAUTHORIZED' ? notTaken(target) : error;
    const { url, home } = target;
    const standby = await standbyAt(url);
    if (standby !== undefined) throw new NoDaemonError(standby, { cause: error });
    throw new NoDaemonError(home === undefined ? nobodyAnswers(url) : nobodyRuns(home), { cause: error });
  }
}

/** Names the refused token and how to create a valid one. */
export function notTaken({ url, token, tokenFrom }: Pick<Target, 'url' | 'token' | 'tokenFrom'>): RequestError {
  const what =
    token === undefined
      ? `${url} requires a token: pass it with --token or HEADGATE_TOKEN.`
      : `${url} refused the token from ${tokenFrom}: it is wrong, revoked or expired.`;
  return new RequestError(
    'UNAUTHORIZED',
    `${what} To create one, run on the daemon's machine: headgate token create --scope approve`,
  );
}

export const nobodyAnswers = (url: string): string => `No daemon answers at ${url}.`;

const nobodyRuns = (home: string): string =>
  `No daemon is running in ${home}. Start one (headgate start), or say where it is with --url or --home.`;

/** Unlike `--token`, a file keeps the token out of the list of processes. */
async function readTokenFile({ tokenFile }: TargetFlags, { cwd }: Surroundings): Promise<string | undefined> {
  if (tokenFile === undefined) return undefined;
  const text = await readFileAt(tokenFile, { cwd, maxBytes: MOST_TOKEN_BYTES, shown: `--token-file ${tokenFile}` });
  return text.trim();
}

const MOST_TOKEN_BYTES = 64 * 1024;
