import { isRecord } from '../../../protocol/is-record.ts';
import { trimEndOf } from '../../../protocol/text/trimmed-text.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { StartError } from '../../start-error.ts';

const MOST_BYTES = 1_048_576;
const VERSION = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-[\w.-]{1,64})?$/;

export interface Newest {
  version: string;
  /** The versions of Node that it runs on, such as `>=24`. */
  node: string | undefined;
}

interface Asking {
  fetch: typeof fetch;
  registry: string;
  signal: AbortSignal;
}

/** The newest version in a registry of npm. Throws StartError that says what is wrong with its answer. */
export async function askNewest({ fetch, registry, signal }: Asking): Promise<Newest> {
  const { url, authorization, shown } = toRequest(registry);
  try {
    const headers = { accept: 'application/json', ...(authorization !== undefined && { authorization }) };
    const response = await fetch(url, { signal, headers });
    if (!response.ok) {
      await response.body?.cancel();
      throw new StartError(
        response.status === 404
          ? `${shown} has no package headgate.`
          : `${shown} answered with HTTP ${response.status}.`,
      );
    }
    return toNewest(JSON.parse(await readLimited(response)), shown);
  } catch (error) {
    if (error instanceof StartError) throw error;
    if (error instanceof SyntaxError) throw notUnderstood(shown, error);
    throw new StartError(`${shown} cannot be reached: ${whyNot(error)}. Choose another registry with --registry.`, {
      cause: error,
    });
  }
}

/** `shown` has neither the password nor the path of the address, which may hold a token. */
function toRequest(registry: string): { url: string; authorization: string | undefined; shown: string } {
  const address = new URL(`${trimEndOf(registry, '/')}/headgate/latest`);
  const { username, password, origin } = address;
  const login = `${toPlain(username)}:${toPlain(password)}`;
  address.username = '';
  address.password = '';
  return {
    url: address.href,
    authorization: login === ':' ? undefined : `Basic ${Buffer.from(login).toString('base64')}`,
    shown: origin,
  };
}

function toPlain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign that is no escape
  }
}

/** `fetch failed` says less than its cause. */
function whyNot(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it did not answer in time';
  return wordsOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
}

async function readLimited({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new SyntaxError('the answer is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function toNewest(answer: unknown, shown: string): Newest {
  if (
    !isRecord(answer) ||
    answer.name !== 'headgate' ||
    typeof answer.version !== 'string' ||
    !VERSION.test(answer.version)
  )
    throw notUnderstood(shown);
  const node = isRecord(answer.engines) ? answer.engines.node : undefined;
  return {
    version: answer.version,
    node: typeof node === 'string' && /^[\w .<>=^~|*-]{1,64}$/.test(node) ? node : undefined,
  };
}

const notUnderstood = (shown: string, cause?: unknown) =>
  new StartError(`${shown} did not answer with a version of headgate. Is it a registry of npm?`, { cause });

/** Whether `version` is newer than `current`. A release is newer than its previews. */
export function isNewer(version: string, current: string): boolean {
  const [left, right] = [VERSION.exec(version), VERSION.exec(current)];
  if (left === null || right === null) return version !== current;
  for (const part of [1, 2, 3]) {
    const difference = Number(left[part]) - Number(right[part]);
    if (difference !== 0) return difference > 0;
  }
  return current.includes('-') && !version.includes('-');
}
