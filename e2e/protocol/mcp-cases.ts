import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import { closeRegistry, ENTRY, startRegistry } from '../support/mcp/registry.ts';
import { channelCases } from './channel-cases.ts';
import { consentCases } from './consent-cases.ts';

interface Caller {
  /** As the operator. */
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  home: string;
  url: string;
}

const FAKE = fileURLToPath(new URL('../../src/agent/mcp/misbehaving-server.ts', import.meta.url));
/** Without a sandbox, so that each machine can run it. */
const CONFIG = { mcp: { servers: { fake: { command: process.execPath, args: [FAKE, 'well'], sandbox: false } } } };

/** A registry with one server. */
const openRegistry = async () => {
  const address = await startRegistry();
  return { address, [Symbol.dispose]: closeRegistry };
};

/** A successful call of each method about tool servers and chat services. Those that need a running one use one of the file. */
export function mcpCases({ call, home, url }: Caller) {
  const file = path.join(home, 'config.json');
  const withConfig = async (config: object, work: () => Promise<unknown>) => {
    const before = await readFile(file, 'utf8').catch(() => '{}');
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    await call('config.reload', {});
    await work();
    await writeFile(file, before, { mode: 0o600 });
    await call('config.reload', {});
  };
  const withServer = (work: () => Promise<unknown>) => withConfig(CONFIG, work);
  const withRegistry = async (work: () => Promise<unknown>) => {
    using registry = await openRegistry();
    await withConfig({ mcp: { registryUrl: registry.address } }, work);
  };
  const withStored = async (work: (serverId: string) => Promise<unknown>) => {
    const { serverId } = await call('mcp.create', { name: 'stored', command: 'nothing', enabled: false });
    await work(serverId);
    await call('mcp.delete', { serverId });
  };
  return {
    'mcp.create': () => withStored(async () => undefined),
    'mcp.delete': () => withStored(async () => undefined),
    'mcp.get': () => withStored((serverId) => call('mcp.get', { serverId })),
    'mcp.update': () => withStored((serverId) => call('mcp.update', { serverId, args: ['-x'] })),
    'mcp.import': () => call('mcp.import', { config: { mcpServers: { one: { command: 'x' } } }, dryRun: true }),
    'mcp.reload': () => call('mcp.reload', {}),
    'mcp.registry.search': () => withRegistry(() => call('mcp.registry.search', { search: 'notes' })),
    'mcp.registry.install': () =>
      withRegistry(async () => {
        const params = { registryName: ENTRY.name, source: 'remote', variables: { token: 'x' } };
        const { serverId } = await call('mcp.registry.install', params);
        await call('mcp.delete', { serverId });
      }),
    ...channelCases({ call, home }),
    ...consentCases({ call, home, url }),
    'mcp.list': () => call('mcp.list', {}),
    'mcp.refresh': () => withServer(() => call('mcp.refresh', { name: 'fake' })),
    'mcp.accept': () => withServer(() => call('mcp.accept', { name: 'fake' })),
  };
}
