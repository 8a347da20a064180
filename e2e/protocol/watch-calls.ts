import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  newSession(): Promise<string>;
  model: Pick<ScriptedModel, 'when'>;
  key(): string;
}

/** A successful call of each method of watches. */
export function watchCalls({ call, newSession, model, key }: Session) {
  const created = async () => {
    const wsId = await newSession();
    await call('workstream.update', { wsId, autoApprove: true });
    const args = { action: 'create', command: 'echo here', interval: '1h', stop_on: 'changed' };
    model.when('watch it', callTools({ name: 'watch', arguments: args }), say('I will.'));
    await call('agent', { sessionKey: wsId, message: 'watch it', idempotencyKey: key() });
    const { watches } = await call('watch.list', { wsId });
    return { wsId, watchId: watches[0]?.watch_id ?? '' };
  };
  return {
    'watch.list': async () => call('watch.list', { wsId: (await created()).wsId, ended: true }),
    'watch.cancel': async () => call('watch.cancel', { watchId: (await created()).watchId }),
    'watch.admin.list': async () => call('watch.admin.list', {}),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
