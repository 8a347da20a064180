import path from 'node:path';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { CONNECT, openClient } from '../../../src/gateway/testing/test-client.ts';
import { type DaemonProcess, spawnHeadgate } from '../../support/daemon/daemon-process.ts';
import type { Recording } from './recording.ts';

const DAY_MS = 86_400_000;

/** Creates API tokens: one per scope, two that expire, a revoked one, and one created by another token. */
export async function credentials({ daemon, secrets }: Recording): Promise<void> {
  const client = await daemon.client();
  const create = (name: string, scope: 'read' | 'write' | 'approve', more = {}) =>
    client.call('token.create', { name, scope, ...more });
  for (const scope of ['read', 'write', 'approve'] as const) secrets[scope] = (await create(scope, scope)).token;
  secrets.lasting = (await create('lasting', 'read', { expiresInMs: 300 * DAY_MS })).token;
  secrets.brief = (await create('brief', 'read', { expiresInMs: 3_600_000 })).token;
  const { token, tokenId } = await create('revoked', 'write');
  secrets.revoked = token;
  await client.call('token.revoke', { tokenId });

  const second = await connectAs(daemon.wsUrl, secrets.approve);
  const child = await second.call('token.create', { name: 'child of approve', scope: 'write' });
  secrets.child = tokenOf(child);
  second.socket.close();
  client.close();
}

/** Creates logins and a login link. They come last because a link is valid for ten minutes. */
export async function logins({ daemon, secrets }: Recording): Promise<void> {
  const logIn = async (body: object) => (await daemon.post('/v1/api/auth/login', body)).body.jwt;
  secrets.login = await logIn({ token: daemon.token });
  secrets.loginOfWrite = await logIn({ token: secrets.write });
  secrets.endedLogin = await logIn({ token: daemon.token });
  await daemon.fetch('/v1/api/auth/logout', {
    ...{ method: 'POST', headers: { authorization: `Bearer ${secrets.endedLogin}` } },
  });
  const client = await daemon.client();
  const { url } = await client.call('auth.link', {});
  secrets.loginCode = new URL(url).hash.replace('#login=', '');
  client.close();
}

/** Pairs a node of the older build and runs two commands on it. Returns the node's process. */
export async function pairedNode(recording: Recording): Promise<DaemonProcess> {
  const node = await runNode(recording, ['--name', 'shed']);
  const CODE = /Pairing code: ([0-9A-F]{4}-[0-9A-F]{4})/;
  await node.printed(CODE);
  const client = await recording.daemon.client();
  const { pending } = await client.call('node.pair.list', {});
  await client.call('node.pair.approve', { requestId: pending[0]?.requestId ?? '' });
  await node.printed(/^Connected\.$/m);
  await readNote(recording, client);
  client.close();
  return node;
}

async function readNote({ root, secrets }: Recording, client: GatewayClient): Promise<void> {
  const { nodes } = await client.call('node.list', {});
  const nodeId = nodes[0]?.nodeId ?? '';
  await client.call('node.rename', { nodeId, displayName: 'Garden shed' });
  const params = { path: path.join(root, 'lent', 'note.txt') };
  const read = { nodeId, command: 'file.read', idempotencyKey: 'read the note' };
  await client.call('node.invoke', { ...read, params });
  const outside = { ...read, params: { path: '/outside.txt' }, idempotencyKey: 'read outside' };
  await client.call('node.invoke', outside).catch((error: Error) => {
    secrets.refusal = error.message; // it is not lent
  });
  secrets.nodeId = nodeId;
}

async function runNode({ daemon, root, entry, env }: Recording, more: readonly string[]): Promise<DaemonProcess> {
  const folders = ['--home', path.join(root, 'node'), '--folder', path.join(root, 'lent')];
  const child = await spawnHeadgate({
    entry,
    args: ['node', 'run', '--gateway', daemon.url, ...folders, ...more],
    env: { HOME: root, ...env },
  });
  await child.printed(/^Lends .*\n/m);
  return child;
}

async function connectAs(url: string, token: string | undefined) {
  const client = await openClient(url, {});
  await client.call('connect', { ...CONNECT, auth: { token } });
  return client;
}

const tokenOf = (created: unknown): string =>
  typeof created === 'object' && created && 'token' in created ? String(created.token) : '';
