import { isRecord } from '../../../../protocol/is-record.ts';
import { StartError } from '../../../start-error.ts';
import { toSafeText } from '../../terminal/safe-text.ts';

const healthOf = (url: string): URL => new URL('/health', url.replace(/^ws/, 'http'));

const readHealth = async (url: string): Promise<unknown> =>
  (await fetch(healthOf(url), { signal: AbortSignal.timeout(LONGEST_MS) })).json();

/** Whether a worker has this address. */
export async function isWorkerAt(url: string): Promise<boolean> {
  const body = await readHealth(url).catch(() => undefined); // nobody answers, or another program
  return isRecord(body) && body.status === 'worker';
}

/** Why commands do not work at this WebSocket address, if a standby has it. */
export async function standbyAt(url: string): Promise<string | undefined> {
  try {
    const address = healthOf(url);
    const body = await readHealth(url);
    if (!isRecord(body) || (body.status !== 'standby' && body.status !== 'worker')) return undefined;
    const active: Record<string, unknown> = isRecord(body.active) ? body.active : {};
    const who = [active.node_id, active.url].flatMap((text) => (typeof text === 'string' ? [toSafeText(text)] : []));
    return `The daemon at ${address.origin} is a ${body.status}. ${who.length === 0 ? 'No daemon is active yet.' : `Active is ${who.join(' at ')}: run the command there.`}`;
  } catch {
    return undefined; // nobody answers, or another program
  }
}

/** For commands that are about this daemon itself: a standby would forward them to the active one. */
export async function requireActive(url: string): Promise<void> {
  const standby = await standbyAt(url);
  if (standby !== undefined) throw new StartError(standby);
}

const LONGEST_MS = 2_000;
