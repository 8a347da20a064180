import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
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

/** A successful call of each method about tool servers. These can only be changed in the file. */
export function mcpCases({ call, home, url }: Caller) {
  const file = path.join(home, 'config.json');
  const withServer = async (work: () => Promise<unknown>) => {
    const before = await readFile(file, 'utf8').catch(() => '{}');
    await writeFile(file, JSON.stringify(CONFIG), { mode: 0o600 });
    await call('config.reload', {});
    await work();
    await writeFile(file, before, { mode: 0o600 });
    await call('config.reload', {});
  };
  return {
    ...consentCases({ call, home, url }),
    'mcp.list': () => call('mcp.list', {}),
    'mcp.refresh': () => withServer(() => call('mcp.refresh', { name: 'fake' })),
    'mcp.accept': () => withServer(() => call('mcp.accept', { name: 'fake' })),
  };
}
