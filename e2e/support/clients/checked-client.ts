import assert from 'node:assert/strict';
import { GATEWAY_EVENTS, type GatewayEventName } from '../../../protocol/events/gateway.ts';
import { type EventFrame, Frame, type ResponseFrame } from '../../../protocol/frames.ts';
import { CONTRACTS, type MethodName, type ParamsInput, type Result } from '../../../protocol/index.ts';
import { CONNECT, openClient, type TestClient } from '../../../src/gateway/testing/test-client.ts';
import type { DaemonUnderTest } from '../daemon/daemon.ts';

/** The violation of the contract by a received frame; undefined if it is valid. */
export function problemOf(frame: unknown, methodOf: (id: string) => MethodName | undefined): string | undefined {
  const read = Frame.safeParse(frame);
  if (!read.success) return `no frame: ${JSON.stringify(frame).slice(0, 200)}: ${read.error.message}`;
  if (read.data.type === 'res') return problemOfAnswer(read.data, methodOf(read.data.id));
  return read.data.type === 'event' ? problemOfEvent(read.data) : 'a gateway asks for nothing';
}

function problemOfAnswer({ ok, payload, error }: ResponseFrame, method: MethodName | undefined): string | undefined {
  if (ok !== (error === undefined)) return 'an answer is either good or has an error';
  if (error?.code === 'INTERNAL') return `INTERNAL to ${method}`;
  if (!ok || method === undefined) return undefined;
  const row = CONTRACTS[method];
  const shapes = 'interim' in row && row.interim ? [row.interim(), row.result()] : [row.result()];
  if (shapes.some((shape) => shape.safeParse(payload).success)) return undefined;
  return `the answer to ${method} does not fit its row: ${JSON.stringify(payload).slice(0, 300)}`;
}

function problemOfEvent({ event, payload, seq, stateVersion }: EventFrame): string | undefined {
  if (!Object.hasOwn(GATEWAY_EVENTS, event)) return `an event that no row names: ${event}`;
  const row = GATEWAY_EVENTS[event as GatewayEventName]; // just looked up
  const { success, error } = row.payload.safeParse(payload);
  if (!success) return `a ${event} event does not fit its row: ${error.message}`;
  if (!row.sequenced && seq !== undefined) return `a ${event} event with seq`;
  return row.versioned === (stateVersion !== undefined) ? undefined : `a ${event} event: stateVersion`;
}

/** A client that checks every frame against the contract. */
export interface CheckedClient extends TestClient {
  /** The answer, which must be a success. */
  ask<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  /** Throws if a frame since the last check violated the contract. */
  check(): void;
}

interface CheckedOptions {
  /** Default: the operator token. */
  token?: string | undefined;
  /** More fields of `client`. */
  client?: object;
}

/** Connects over a new socket; close it with its `socket`. */
export async function openChecked(
  daemon: Pick<DaemonUnderTest, 'wsUrl' | 'token'>,
  options: CheckedOptions = {},
): Promise<CheckedClient> {
  const { token = daemon.token, client } = options;
  const socket = await openClient(daemon.wsUrl, {});
  const asked = new Map<string, MethodName>();
  const ask = async <M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>> => {
    const { id, ok, payload, error } = await socket.request(method, params);
    asked.set(id, method);
    assert.ok(ok, `${method}: ${error?.code} ${error?.message}`);
    return payload as Result<M>; // `check` compares it with the row
  };
  await ask('connect', {
    ...CONNECT,
    client: { ...CONNECT.client, ...client },
    ...(token !== '' && { auth: { token } }),
  });
  let read = 0;
  /** Answers that were checked before `ask` knew that they are its own. */
  let early: Frame[] = [];
  return {
    ...socket,
    ask,
    check() {
      const frames = [...early, ...socket.frames.slice(read)];
      read = socket.frames.length;
      early = frames.filter((frame) => frame.type === 'res' && !asked.has(frame.id));
      const problems = frames.flatMap((frame) => problemOf(frame, (id) => asked.get(id)) ?? []);
      assert.deepEqual(problems, []);
    },
  };
}
