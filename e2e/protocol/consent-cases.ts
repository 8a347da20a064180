import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import { consentAt, startAccountServer } from '../support/oidc/account-server.ts';
import { WebVisitor } from '../support/oidc/web-visitor.ts';

interface Caller {
  /** As the operator. */
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  home: string;
  url: string;
}

/** A successful call of each method about accounts at tool servers. */
export function consentCases({ call, home, url }: Caller) {
  const file = path.join(home, 'config.json');

  async function withAccount(work: () => Promise<unknown>): Promise<void> {
    await using server = await startAccountServer();
    const before = await readFile(file, 'utf8').catch(() => '{}');
    const servers = { notes: { url: server.url, oauth: {} } };
    await writeFile(file, JSON.stringify({ mcp: { servers } }), { mode: 0o600 });
    await call('config.reload', {});
    const { url: page, pending } = await call('mcp.consent.begin', { server: 'notes' });
    const back = await consentAt(page, { as: 'ada', visitor: new WebVisitor(), back: url });
    const { state = '', code, iss } = Object.fromEntries(new URL(back).searchParams);
    await call('mcp.consent.finish', { pending, state, code, iss });
    await work();
    await writeFile(file, before, { mode: 0o600 });
    await call('config.reload', {});
  }

  return {
    'mcp.consent.begin': () => withAccount(async () => undefined),
    'mcp.consent.finish': () => withAccount(async () => undefined),
    'mcp.consent.list': () => withAccount(() => call('mcp.consent.list', {})),
    'mcp.consent.remove': () => withAccount(() => call('mcp.consent.remove', { server: 'notes' })),
    'mcp.consent.pending': () => call('mcp.consent.pending', {}),
    'mcp.consent.dismiss': () => call('mcp.consent.dismiss', { server: 'notes' }),
    'mcp.consent.revoke': () => withAccount(() => call('mcp.consent.revoke', { server: 'notes' })),
  };
}
