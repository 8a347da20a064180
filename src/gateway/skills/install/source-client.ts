import { isIP } from 'node:net';
import { GatewayError } from '../../../../protocol/errors.ts';
import { withDeadline } from '../../../agent/process/deadline.ts';
import { follow } from '../../../agent/tools/web/follow.ts';
import { readBytes } from '../../../agent/tools/web/read-bytes.ts';
import { parseWebAddress, type WebAddress } from '../../../agent/tools/web/web-address.ts';
import type { Clock } from '../../../clock.ts';
import { isPrivateName } from '../../../egress/egress-address.ts';
import type { HostDecision } from '../../../egress/host-decision.ts';
import type { CheckedGet } from '../../../egress/web/checked-get.ts';

/** Where skills of others come from. */
export interface SourceSettings {
  /** The directory of skills. */
  readonly discoveryUrl: string;
  /** The interface of GitHub. */
  readonly apiUrl: string;
  /** The files of repositories of GitHub. */
  readonly rawUrl: string;
  /** Names that may lead to private addresses. */
  readonly privateHosts: readonly string[];
}

export interface SourceClientDeps {
  get: CheckedGet;
  /** Read at each use. */
  settings(): SourceSettings;
  clock: Clock;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
}

/** What an address answered: a file, or that there is none. */
export type Fetched = { kind: 'found'; bytes: Uint8Array } | { kind: 'missing' };

/** Fetches from the addresses of the settings, and from no others. */
export interface SourceClient {
  /** Throws UPSTREAM_FAILED, also for an answer that is larger than `maxBytes`. */
  get(url: string, maxBytes: number): Promise<Fetched>;
}

const DEADLINE_MS = 30_000;

/** The connection of each hop goes to an address that was checked; redirects lead to the known hosts only. */
export function createSourceClient(deps: SourceClientDeps): SourceClient {
  const { clock, stopping } = deps;
  return {
    async get(url, maxBytes) {
      using deadline = withDeadline(stopping, { clock, ms: DEADLINE_MS });
      const address = parseWebAddress(url);
      if (typeof address === 'string') throw failed(address);
      try {
        return await fetchFrom(address, { maxBytes, signal: deadline.signal }, deps);
      } catch (error) {
        if (error instanceof GatewayError) throw error;
        if (stopping.aborted) throw new GatewayError('UNAVAILABLE', 'Headgate is stopping', { cause: error });
        throw failed(`${address.url.host} did not answer within ${DEADLINE_MS / 1000} seconds`, error);
      }
    },
  };
}

async function fetchFrom(
  address: WebAddress,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
  { get, settings }: SourceClientDeps,
): Promise<Fetched> {
  const { host, pathname } = address.url;
  const reached = await follow(address, {
    get,
    decide: (target) => decisionOn(target.host, settings()),
    onConnection: () => undefined,
    headers: { 'user-agent': 'Headgate', accept: '*/*' },
    signal,
  });
  if (reached.kind === 'not-reached') throw failed(reached.reason);
  await using response = reached.response;
  const { status, body } = response;
  if (status === 404 || status === 410) return { kind: 'missing' };
  if (status !== 200) throw failed(`${host} answered with status ${status}`);
  const read = await readBytes(body, { maxBytes, signal });
  if (read.problem !== undefined) throw failed(`the answer of ${host} broke off (${read.problem})`);
  if (read.isCut) throw failed(`${pathname} is larger than ${maxBytes} bytes`);
  return { kind: 'found', bytes: read.bytes };
}

/** Whoever writes the settings chooses their hosts, also private ones; a redirect does not. */
function decisionOn(host: string, { discoveryUrl, apiUrl, rawUrl, privateHosts }: SourceSettings): HostDecision {
  const isConfigured = [discoveryUrl, apiUrl, rawUrl].some((url) => hostOf(url) === host);
  if (!isConfigured) return { kind: 'deny' };
  const isNamedPrivate = isIP(host) !== 0 || isPrivateName(host);
  return { kind: 'allow', mayBePrivate: isNamedPrivate || privateHosts.some((name) => name.toLowerCase() === host) };
}

function hostOf(url: string): string | undefined {
  const address = parseWebAddress(url);
  return typeof address === 'string' ? undefined : address.target.host;
}

const failed = (reason: string, cause?: unknown) => new GatewayError('UPSTREAM_FAILED', reason, { cause });
