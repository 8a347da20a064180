import { z } from 'zod';
import { GatewayError } from '../../../../protocol/errors.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { withDeadline } from '../../../agent/process/deadline.ts';
import type { Clock } from '../../../clock.ts';
import { type RegistryEntry, readEntry } from './registry-entry.ts';

export interface RegistryDeps {
  /** Read at each use. */
  registryUrl(): string;
  /** The daemon's own requests: it checks the address, and follows no redirect. */
  fetch: typeof fetch;
  clock: Clock;
}

export interface RegistryPage {
  entries: RegistryEntry[];
  nextCursor: string | undefined;
}

interface Search {
  search: string | undefined;
  limit: number;
  cursor: string | undefined;
}

const TIME_MS = 15_000;
const MOST_BYTES = 8 * 1024 * 1024;
/** The current interface of the registry, and the one before, which others still have. */
const VERSIONS = ['v0.1', 'v0'];

const Listed = z.object({
  servers: z.array(z.unknown()).nullish(),
  metadata: z.looseObject({ nextCursor: z.string().max(1_024).nullish() }).nullish(),
});
const Single = z.object({ server: z.unknown() });

/** One page of the latest versions. Entries that cannot be read are left out. */
export async function searchRegistry({ search, limit, cursor }: Search, signal: AbortSignal, deps: RegistryDeps) {
  const query = new URLSearchParams({ limit: String(limit), version: 'latest' });
  if (search !== undefined) query.set('search', search);
  if (cursor !== undefined) query.set('cursor', cursor);
  const listed = Listed.safeParse(await ask(`servers?${query}`, signal, deps)).data;
  if (listed === undefined) throw broken('it answered something else than a list of servers');
  const entries = (listed.servers ?? []).flatMap((one) => readEntry(Single.safeParse(one).data?.server) ?? []);
  const page: RegistryPage = { entries, nextCursor: listed.metadata?.nextCursor || undefined };
  return page;
}

/** An entry by its name. Throws NOT_FOUND. */
export async function readRegistry(
  { name, version = 'latest' }: { name: string; version?: string | undefined },
  signal: AbortSignal,
  deps: RegistryDeps,
): Promise<RegistryEntry> {
  const place = `servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`;
  const answer = await ask(place, signal, deps);
  if (answer === undefined)
    throw new GatewayError(
      'NOT_FOUND',
      `The registry has no server ${name}${version === 'latest' ? '' : ` ${version}`}`,
    );
  const entry = readEntry(Single.safeParse(answer).data?.server);
  if (entry === undefined) throw broken('it answered an entry that cannot be read');
  if (entry.name !== name) throw broken('it answered the entry of another server');
  return entry;
}

/** Undefined: the registry has no such thing. */
async function ask(place: string, signal: AbortSignal, deps: RegistryDeps): Promise<unknown> {
  using deadline = withDeadline(signal, { clock: deps.clock, ms: TIME_MS });
  for (const version of VERSIONS) {
    const answer = await get(`${version}/${place}`, deadline.signal, deps);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

async function get(place: string, signal: AbortSignal, { registryUrl, fetch }: RegistryDeps): Promise<unknown> {
  const base = registryUrl();
  const url = new URL(place, base.endsWith('/') ? base : `${base}/`);
  try {
    const response = await fetch(url, { signal, headers: { accept: 'application/json' } });
    if (response.status === 404) {
      await response.body?.cancel();
      return undefined;
    }
    const text = await readText(response);
    if (!response.ok) throw new Error(`it answered with status ${response.status}`);
    return JSON.parse(text);
  } catch (error) {
    throw broken(signal.aborted ? `it did not answer within ${TIME_MS / 1_000} s` : whyNot(error), error);
  }
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`its answer is longer than ${MOST_BYTES / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function whyNot(error: unknown): string {
  if (error instanceof SyntaxError) return 'its answer is not JSON';
  return wordsOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
}

/** The fault is the registry's. */
const broken = (why: string, cause?: unknown) =>
  new GatewayError('UNAVAILABLE', `Registry error: ${why}`, { cause, details: { reason: 'upstream' } });
