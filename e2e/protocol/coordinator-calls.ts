import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
}

/** A successful call of each method of coordinators. */
export function coordinatorCalls({ call }: Session) {
  const made = async () => {
    const { wsId } = await call('workstream.create', { kind: 'coordinator' });
    await call('workstream.create', { parentWsId: wsId });
    return { wsId };
  };
  return {
    'coordinator.list': async () => call('coordinator.list', await made()),
    'coordinator.children': async () => call('coordinator.children', await made()),
    'coordinator.tasks': async () => call('coordinator.tasks', await made()),
    'coordinator.metrics': async () => call('coordinator.metrics', await made()),
    'coordinator.trust': async () => call('coordinator.trust', { ...(await made()), send: true }),
    'coordinator.restrict': async () => call('coordinator.restrict', { ...(await made()), revoke: ['bash'] }),
    'coordinator.stop': async () => call('coordinator.stop', await made()),
    'coordinator.close': async () => call('coordinator.close', await made()),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
