import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import type { CheckedClient } from '../support/clients/checked-client.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  open(as: { token: string }): Promise<CheckedClient>;
  newSession(): Promise<string>;
  model: Pick<ScriptedModel, 'when'>;
  key(): string;
}

/** A successful call of each method of memories and of the search in messages. */
export function memoryCalls({ call, open, newSession, model, key }: Session) {
  const saved = async () => (await call('memory.save', { name: key(), content: 'tabs, not spaces' })).memory;
  /** The id of a memory that an agent saved because a caller without the approve scope wanted it. */
  const quarantined = async () => {
    const name = key();
    const writer = await open({ token: (await call('token.create', { name, scope: 'write' })).token });
    model.when(name, callTools({ name: 'memory', arguments: { action: 'save', name, content: 'x' } }), say('saved'));
    await writer.ask('agent', { sessionKey: await newSession(), message: name, idempotencyKey: key() });
    const { memories } = await call('memory.quarantine.list', {});
    return memories.find((memory) => memory.name === name.replaceAll('-', '_'))?.memoryId ?? '';
  };
  return {
    'workstream.find': () => call('workstream.find', { query: 'tabs', limit: 5 }),
    'memory.list': () => call('memory.list', { scope: 'global', limit: 5 }),
    'memory.save': () => saved(),
    'memory.search': () => call('memory.search', { query: 'tabs' }),
    'memory.get': async () => call('memory.get', { name: (await saved()).name }),
    'memory.delete': async () => call('memory.delete', { name: (await saved()).name }),
    'memory.quarantine.list': () => call('memory.quarantine.list', {}),
    'memory.quarantine.release': async () => call('memory.quarantine.release', { memoryId: await quarantined() }),
    'memory.quarantine.discard': async () => call('memory.quarantine.discard', { memoryId: await quarantined() }),
    'memory.admin.list': () => call('memory.admin.list', {}),
    'memory.admin.search': () => call('memory.admin.search', { query: 'tabs' }),
    'memory.admin.get': async () => call('memory.admin.get', { memoryId: (await saved()).memoryId }),
    'memory.admin.delete': async () => call('memory.admin.delete', { memoryId: (await saved()).memoryId }),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
