import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  /** A session whose run waits for an approval. */
  waitingApproval(): Promise<{ wsId: string }>;
  key(): string;
}

/** A successful call of each method of the queue. */
export function queueCalls({ call, waitingApproval, key }: Session) {
  /** A message that waits for its run. */
  const queued = async () => {
    const { wsId } = await waitingApproval();
    const idempotencyKey = key();
    await call('workstream.send', { wsId, message: 'later', queue: true, idempotencyKey });
    return { wsId, runId: idempotencyKey };
  };
  return {
    'queue.list': async () => call('queue.list', { wsId: (await queued()).wsId }),
    'queue.edit': async () => call('queue.edit', { ...(await queued()), message: 'much later' }),
    'queue.move': async () => call('queue.move', { ...(await queued()), to: 0 }),
    'queue.steer': async () => call('queue.steer', await queued()),
    'queue.remove': async () => call('queue.remove', await queued()),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
