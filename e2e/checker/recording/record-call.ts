import { systemClock } from '../../../src/clock.ts';
import type { Answer, CallHistory, CallParams } from '../evidence.ts';
import type { Address, RecordedSocket } from './record-socket.ts';

export interface CallWish {
  method:
    | 'workstream.send'
    | 'agent'
    | 'chat.send'
    | 'workstream.approve'
    | 'approval.resolve'
    | 'workstream.cancel'
    | 'workstream.rewind'
    | 'workstream.retry'
    | 'workstream.command'
    | 'queue.steer'
    | 'budget.set';
  params: CallParams & { always?: boolean; force?: boolean; turns?: number; command?: string; queue?: boolean };
}

/** A pending call. */
export interface RecordedCall {
  history: CallHistory;
  /** Resolves with the first answer, or with undefined if the answer is lost. */
  answered: Promise<Answer | undefined>;
}

/** Makes a call over a socket, with the field names of its row. */
export function callOverSocket(socket: RecordedSocket, { method, params }: CallWish): RecordedCall {
  const history = historyOf({ method, params });
  const { promise: answered, resolve } = Promise.withResolvers<Answer | undefined>();
  socket.request(method, toSocketParams(method, params), ({ ok, payload, error }) => {
    if (error?.code === LOST_BEHIND.code) return resolve(undefined);
    const answer: Answer = { atMs: systemClock.now(), ok, payload, ...(error && { code: error.code }) };
    history.answers.push(answer);
    resolve(answer);
  });
  void socket.ended.then(() => resolve(undefined));
  return { history, answered };
}

function toSocketParams(method: CallWish['method'], { wsId, ...params }: CallWish['params']): object {
  if (method === 'agent' || method === 'chat.send') return { sessionKey: wsId, ...params };
  if (method === 'approval.resolve') return params;
  return { wsId, ...params };
}

const PATHS: Partial<Record<CallWish['method'], string>> = {
  'workstream.send': '/v1/api/send',
  'workstream.approve': '/v1/api/approve',
  'workstream.cancel': '/v1/api/cancel',
};

export function callOverHttp({ url, token, signal }: Address, wish: CallWish): RecordedCall {
  const history = historyOf(wish);
  const { wsId, idempotencyKey, approvalId, ...params } = wish.params;
  const send = async (): Promise<Answer | undefined> => {
    const response = await fetch(`${url}${PATHS[wish.method]}`, {
      method: 'POST',
      ...(signal && { signal }),
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      body: JSON.stringify({ ...params, ws_id: wsId, ...(approvalId !== undefined && { approval_id: approvalId }) }),
    });
    const { run_id: runId, ...payload } = await response.json();
    if (response.status === LOST_BEHIND.status) return undefined;
    const answer: Answer = {
      atMs: systemClock.now(),
      ok: response.ok,
      payload: { ...payload, ...(runId && { runId }) },
    };
    return response.ok ? answer : { ...answer, code: CODES[response.status] ?? String(response.status) };
  };
  const answered = send().then(
    (answer) => {
      if (answer) history.answers.push(answer);
      return answer;
    },
    () => undefined, // the connection was lost
  );
  return { history, answered };
}

/** A daemon answers so when another one was lost after the request was sent there: it may have been carried out. */
const LOST_BEHIND = { status: 502, code: 'UPSTREAM_FAILED' };

/** The error codes that the rules use, by HTTP status. */
const CODES: Record<number, string> = { 404: 'NOT_FOUND', 409: 'CONFLICT', 503: 'UNAVAILABLE' };

const historyOf = ({ method, params }: CallWish): CallHistory => ({
  method,
  params,
  sentMs: systemClock.now(),
  answers: [],
});
