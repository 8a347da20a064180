import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  newSession(): Promise<string>;
  key(): string;
}

/** A successful call of each method that takes messages back, or tries again. */
export function takingBackCalls({ call, newSession, key }: Session) {
  /** A session with one answered message. */
  const talked = async () => {
    const wsId = await newSession();
    await call('agent', { sessionKey: wsId, message: 'hi', idempotencyKey: key() });
    return wsId;
  };
  /** A session whose only message failed. */
  const refusedMessage = async () => {
    const [wsId, runId] = [await newSession(), key()];
    await call('chat.send', { sessionKey: wsId, message: 'refuse it', idempotencyKey: runId });
    await call('agent.wait', { runId, timeoutMs: 60_000 });
    return wsId;
  };
  return {
    'workstream.proceed': async () => call('workstream.proceed', { wsId: await newSession() }),
    'workstream.rewind': async () => call('workstream.rewind', { wsId: await talked(), turns: 1 }),
    'workstream.retry': async () => call('workstream.retry', { wsId: await talked() }),
    'workstream.edit': async () => call('workstream.edit', { wsId: await talked(), seq: 1, message: 'hello' }),
    'workstream.remove': async () => call('workstream.remove', { wsId: await refusedMessage(), seq: 1 }),
    'workstream.share': async () => call('workstream.share', { wsId: await talked(), visibility: 'private' }),
    'workstream.fork': async () => call('workstream.fork', { wsId: await talked() }),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
