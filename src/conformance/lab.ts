import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { HelloOk } from '../../protocol/connect.ts';
import type { ResponseFrame } from '../../protocol/frames.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { systemClock } from '../clock.ts';
import { expectThat, Inapplicable } from './verdict.ts';
import { INVALID, openWire, type Wire } from './wire.ts';

export interface Server {
  /** `ws://…` */
  url: string;
  token: string | undefined;
}

/** A wire after its handshake. */
export interface Session extends Wire {
  hello: HelloOk;
}

/** The tools of one case. `clean` removes everything the case created. */
export interface Lab {
  server: Server;
  open(): Promise<Wire>;
  /** Valid params of `connect`. Default token: the server's. */
  connectParams(token?: string): object;
  connect(token?: string): Promise<Session>;
  /** A connection of mode `node`, or the refusal of its handshake. */
  greetAsNode(nodeId: string, token?: string): Promise<Session | ResponseFrame>;
  /** Creates a workstream for this case. */
  makeWorkstream(session: Session): Promise<string>;
  /** A key for a session of this case, which its first message creates. */
  nameSession(): string;
  /** Creates a token with the `read` scope. */
  makeReader(session: Session): Promise<{ token: string; tokenId: string }>;
  /** Waits; rejects if the run is interrupted. */
  pause(ms: number): Promise<void>;
  /** Adds a cleanup step; `clean` runs the latest first. */
  takeBack(undo: () => Promise<unknown>): void;
  clean(): Promise<void>;
}

const Made = z.object({ wsId: z.string() });
const Token = z.object({ token: z.string(), tokenId: z.string() });

/** Throws Inapplicable unless the session may use all these methods. */
export function needs({ hello }: Session, ...methods: string[]): void {
  const missing = methods.filter((method) => !hello.features.methods.includes(method));
  if (missing.length > 0) throw new Inapplicable(`not among this token’s methods: ${missing.join(', ')}`);
}

const NEVER = new AbortController().signal;

/** When `stopping` aborts, the case stops waiting and cleans up. */
export function createLab(server: Server, stopping?: AbortSignal): Lab {
  const wires: Wire[] = [];
  const undoings: (() => Promise<unknown>)[] = [];
  const connectParams = (token = server.token) => ({
    minProtocol: LIMITS.protocolVersion,
    maxProtocol: LIMITS.protocolVersion,
    client: { name: 'conformance', version: '1', platform: 'node', mode: 'test', instanceId: randomUUID() },
    ...(token !== undefined && { auth: { token } }),
  });
  let isCleaning = false;
  const open = async () => {
    const wire = await openWire(server.url, isCleaning ? undefined : stopping);
    wires.push(wire);
    return wire;
  };
  const connect = async (token?: string): Promise<Session> => {
    const wire = await open();
    const hello = HelloOk.safeParse(await wire.call('connect', connectParams(token)));
    expectThat(hello.success, `hello-ok does not fit its schema: ${hello.error?.issues[0]?.message}`);
    return Object.assign(wire, { hello: hello.data });
  };
  return {
    server,
    open,
    connectParams,
    connect,
    async greetAsNode(nodeId, token) {
      const wire = await open();
      const { auth: _, ...params } = connectParams();
      const answer = await wire.request('connect', {
        ...params,
        client: { ...params.client, mode: 'node', instanceId: nodeId },
        ...(token !== undefined && { auth: { token } }),
      });
      return answer.ok ? Object.assign(wire, { hello: HelloOk.parse(answer.payload) }) : answer;
    },
    pause: (ms) => systemClock.sleep(ms, stopping ?? NEVER),
    takeBack: (undo) => void undoings.push(undo),
    async makeWorkstream(session) {
      needs(session, 'workstream.create', 'workstream.close');
      const { wsId } = Made.parse(
        await session.call('workstream.create', { name: `conformance-${randomUUID().slice(0, 8)}` }),
      );
      undoings.push(() => removeWorkstream(connect, wsId));
      return wsId;
    },
    nameSession() {
      const key = `conformance-${randomUUID().slice(0, 8)}`;
      undoings.push(async () => (await connect()).request('sessions.delete', { key }));
      return key;
    },
    async makeReader(session) {
      needs(session, 'token.create', 'token.revoke');
      const made = Token.parse(
        await session.call('token.create', { name: `conformance-${randomUUID()}`, scope: 'read' }),
      );
      undoings.push(async () => (await connect()).request('token.revoke', { tokenId: made.tokenId }));
      return made;
    },
    async clean() {
      isCleaning = true;
      const undone = await settleInTurn(undoings.reverse());
      await closeAll(wires);
      const failed = undone.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
      const stray = wires
        .flatMap(({ frames }) => frames)
        .find((frame) => frame.type === 'event' && frame.event === INVALID);
      expectThat(stray === undefined, `received an invalid frame: ${JSON.stringify(stray)}`);
    },
  };
}

/** Waits until the server has closed them, so that their resources are free for the next case. */
async function closeAll(wires: readonly Wire[]): Promise<void> {
  for (const wire of wires) wire.close();
  await Promise.allSettled(wires.map((wire) => wire.closed()));
}

/** Deletes the workstream if the token may do that; otherwise closes it. */
async function removeWorkstream(connect: () => Promise<Session>, wsId: string): Promise<void> {
  const session = await connect();
  const mayDelete = session.hello.features.methods.includes('sessions.delete');
  if (mayDelete) await session.call('sessions.delete', { key: wsId });
  else await session.call('workstream.close', { wsId });
}

/** Runs the tasks one after the other, even if some fail. */
async function settleInTurn(tasks: readonly (() => Promise<unknown>)[]): Promise<PromiseSettledResult<unknown>[]> {
  const results: PromiseSettledResult<unknown>[] = [];
  for (const task of tasks) results.push(...(await Promise.allSettled([task()])));
  return results;
}
