import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  key(): string;
}

/** A successful call of each method of memories. */
export function memoryCalls({ call, key }: Session) {
  const saved = async () => (await call('memory.save', { name: key(), content: 'tabs, not spaces' })).memory;
  return {
    'memory.list': () => call('memory.list', { scope: 'global', limit: 5 }),
    'memory.save': () => saved(),
    'memory.search': () => call('memory.search', { query: 'tabs' }),
    'memory.get': async () => call('memory.get', { name: (await saved()).name }),
    'memory.delete': async () => call('memory.delete', { name: (await saved()).name }),
    'memory.admin.list': () => call('memory.admin.list', {}),
    'memory.admin.search': () => call('memory.admin.search', { query: 'tabs' }),
    'memory.admin.get': async () => call('memory.admin.get', { memoryId: (await saved()).memoryId }),
    'memory.admin.delete': async () => call('memory.admin.delete', { memoryId: (await saved()).memoryId }),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
