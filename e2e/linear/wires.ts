import type { EventFrame } from '../../protocol/frames.ts';
import { type RecordedSocket, recordSocket } from '../checker/recording/record-socket.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';

/** What became of a request. `unsent`: it cannot have had any effect. */
export type Outcome =
  | { kind: 'ok'; payload: unknown }
  | { kind: 'refused'; code: string }
  | { kind: 'lost' }
  | { kind: 'unsent' };

type Ask = (method: string, params: object) => Promise<Outcome>;

/** One connection, or one client that opens a connection for each request. */
export interface Wire {
  isHttp: boolean;
  ask: Ask;
  close(): void;
}

/** Undefined if the daemon is gone. */
export async function openSocketWire(
  { url, token }: DaemonUnderTest,
  { reader, onEvent }: { reader: string; onEvent(frame: EventFrame): void },
): Promise<Wire | undefined> {
  const socket = recordSocket({ url, token, reader, onEvent });
  if (!(await socket.connected)) return undefined;
  return { isHttp: false, ask: (method, params) => askOver(socket, method, params), close: () => socket.close() };
}

function askOver(socket: RecordedSocket, method: string, params: object): Promise<Outcome> {
  if (!socket.history.isOpen) return Promise.resolve({ kind: 'unsent' });
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  socket.request(method, params, ({ ok, payload, error }) =>
    resolve(ok ? { kind: 'ok', payload } : toRefusal(error?.code ?? '', `${method}: ${error?.message}`)),
  );
  void socket.ended.then(() => resolve({ kind: 'lost' }));
  return promise;
}

/** The methods that a client over HTTP calls, by their names at the gateway; answers have the gateway's fields. */
export const openHttpWire = (daemon: DaemonUnderTest): Wire => ({
  isHttp: true,
  ask: (method, params) => askOverHttp(daemon, method, { ...params }),
  close: () => undefined,
});

interface Params {
  wsId?: string;
  approvalId?: string;
  idempotencyKey?: string;
}

const ROUTES: Record<string, string> = {
  'workstream.send': 'send',
  'workstream.approve': 'approve',
  'workstream.cancel': 'cancel',
};

async function askOverHttp(
  { fetch }: DaemonUnderTest,
  method: string,
  { wsId, approvalId, idempotencyKey, ...rest }: Params,
): Promise<Outcome> {
  const route = ROUTES[method];
  const sent = JSON.stringify({ ...rest, ws_id: wsId, ...(approvalId !== undefined && { approval_id: approvalId }) });
  const key = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  let answer: { response: Response; body: Record<string, unknown> };
  try {
    const response = await (route === undefined
      ? fetch(`/v1/api/workstreams/${wsId}/history?limit=500`)
      : fetch(`/v1/api/${route}`, {
          method: 'POST',
          body: sent,
          headers: { 'Content-Type': 'application/json', ...key },
        }));
    answer = { response, body: await response.json() };
  } catch {
    return { kind: 'lost' };
  }
  const { response, body: payload } = answer;
  if (!response.ok)
    return toRefusal(CODES[response.status] ?? String(response.status), `${method}: ${JSON.stringify(payload)}`);
  return { kind: 'ok', payload: { ...payload, runId: payload.run_id } };
}

const CODES: Record<number, string> = {
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  429: 'BUSY',
  502: 'UPSTREAM_FAILED',
  503: 'UNAVAILABLE',
};

/** A refusal whose effect is certain. Otherwise the call may have had one. */
function toRefusal(code: string, message: string): Outcome {
  if (code === 'BUSY' || code === 'CONFLICT') return { kind: 'refused', code };
  if (code === 'UNAVAILABLE' || code === 'UPSTREAM_FAILED') return { kind: 'lost' };
  throw new Error(`a call was refused with ${code}, ${message}`);
}
