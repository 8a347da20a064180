import { toVisibleLine } from '../../../../../protocol/text/visible-text.ts';
import type { Clock } from '../../../../clock.ts';
import type { HostDecision } from '../../../../egress/host-decision.ts';
import type { Connection } from '../../../../egress/proxy/egress-proxy.ts';
import type { ProxyTarget } from '../../../../egress/proxy/proxy-target.ts';
import type { CheckedSend } from '../../../../egress/web/checked-get.ts';
import type { OutputGuard } from '../../../guard/output-guard.ts';
import { withDeadline } from '../../../process/deadline.ts';
import { StopReason } from '../../../stop-reason.ts';
import { outcomeOf, toStopLine } from '../../stop-line.ts';
import type { ToolOutcome } from '../../tool.ts';
import { reach } from '../follow.ts';
import { readBytes } from '../read-bytes.ts';
import { toListedPages } from './found-page.ts';
import type { SEARCH_SERVICES } from './search-services.ts';

type Service = (typeof SEARCH_SERVICES)[keyof typeof SEARCH_SERVICES];

interface Asking {
  service: Service;
  target: ProxyTarget;
  /** The most pages to list: some services do not count. */
  count: number;
  send: CheckedSend;
  decide(target: ProxyTarget): HostDecision;
  onConnection(connection: Connection): void;
  guard: OutputGuard;
  clock: Clock;
  signal: AbortSignal;
  maxOutputBytes: number;
}

const DEADLINE_SECS = 20;
const MAX_BYTES = 2 * 1024 * 1024;

/** Sends one request to a search service and reads its answer. Redirects are not followed: they would carry the key along. */
export async function askService(
  { url, headers, body }: ReturnType<Service['toRequest']>,
  asking: Asking,
): Promise<ToolOutcome> {
  using deadline = withDeadline(asking.signal, { clock: asking.clock, ms: DEADLINE_SECS * 1_000 });
  const { signal } = deadline;
  const { target, send, decide, onConnection, guard } = asking;
  try {
    const reached = await reach({ url, target }, false, {
      get: (address, request) => send(address, { ...request, ...(body !== undefined && { body }) }),
      decide,
      onConnection,
      headers,
      signal,
    });
    if (reached.kind === 'not-reached') {
      const { refused } = reached;
      return {
        ...failed(reached.reason),
        ...(refused && { refusedHosts: [{ ...refused, host: guard.clean(refused.host) }] }),
      };
    }
    await using response = reached.response;
    return await readAnswer(response, { asking, signal });
  } catch (error) {
    if (error instanceof StopReason) return { output: toStopLine(error, DEADLINE_SECS), outcome: outcomeOf(error) };
    throw error;
  }
}

type Response = Awaited<ReturnType<CheckedSend>>;

async function readAnswer(
  { status, headers, body }: Response,
  { asking, signal }: { asking: Asking; signal: AbortSignal },
): Promise<ToolOutcome> {
  const { service, count, maxOutputBytes } = asking;
  const read = await readBytes(body, { maxBytes: MAX_BYTES, signal });
  const answer = parse(read.bytes);
  if (status < 200 || status >= 300) return failed(toStatus(service, { status, headers, answer }));
  if (read.problem !== undefined) return failed(`The answer of ${service.title} broke off (${read.problem}).`);
  if (read.isCut) return failed(`The answer of ${service.title} is longer than 2 MiB.`);
  const found = service.read(answer);
  if (found === undefined) return failed(notUnderstood(service, headers['content-type']));
  const note = found.note === undefined ? '' : `\n${found.note}`;
  const listed = toListedPages(found.pages.slice(0, count), maxOutputBytes - Buffer.byteLength(note));
  return { output: `${listed}${note}`, outcome: 'done' };
}

/** Undefined if it is no JSON. */
function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined; // the status, or the type of the answer, tells more
  }
}

interface Refusal {
  status: number;
  headers: Record<string, string>;
  answer: unknown;
}

/** In words of our own, because the answer may contain anything. */
function toStatus({ title, keyName }: Service, { status, headers, answer }: Refusal): string {
  const named = codeOf(answer);
  const what = `${title} answered with status ${status}${named === undefined ? '' : ` (${named})`}`;
  const after = headers['retry-after'];
  if (status === 429) {
    const when = after === undefined ? 'later' : `after: ${toVisibleLine(after.slice(0, 100))}`;
    return `${what}: too many requests. Try again ${when}.`;
  }
  if (PLAN_USED_UP.includes(status)) return `${what}: the plan of its key is used up. Only the person can change that.`;
  if (keyName === undefined && status === 403)
    return `${what}: it does not offer JSON. The person has to add json to search.formats in its settings.yml.`;
  if (isAboutKey(status, named))
    return `${what}: it does not accept the key. Only the person can change it, in the setting tools.search.`;
  if (status >= 300 && status < 400)
    return `${what}: redirects are not followed. The person has to set its final address in tools.search.url.`;
  return status >= 500 ? `${what}: it has a problem of its own. Try again later.` : `${what}.`;
}

/** Tavily's own statuses: the plan, and the limit that pay-as-you-go has. */
const PLAN_USED_UP = [432, 433];

const isAboutKey = (status: number, code = ''): boolean =>
  status === 401 || status === 403 || /TOKEN|KEY|SUBSCRIPTION/.test(code);

/** Brave names its errors: `{error: {code: 'SUBSCRIPTION_TOKEN_INVALID'}}`. */
function codeOf(answer: unknown): string | undefined {
  if (!isObject(answer) || !('error' in answer) || !isObject(answer.error) || !('code' in answer.error))
    return undefined;
  const { code } = answer.error;
  return typeof code === 'string' && /^[A-Z_]{1,60}$/.test(code) ? code : undefined;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function notUnderstood({ title }: Service, type = 'no type'): string {
  const what = toVisibleLine(type.slice(0, 100));
  return `The answer of ${title} is none that it gives to searches (${what}). The person may have set a wrong address in tools.search.url.`;
}

const failed = (reason: string): ToolOutcome => ({ output: `Not searched: ${reason}`, outcome: 'failed' });
