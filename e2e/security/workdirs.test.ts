import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { z } from 'zod';
import { createGatewayClient, type GatewayClient } from '../../protocol/client/ws-client.ts';
import type { Endpoint } from '../../protocol/http/endpoint.ts';
import { ENDPOINTS } from '../../protocol/http/index.ts';
import { CONTRACTS, type ParamsInput } from '../../protocol/index.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const root = await realpath(await mkdtemp('/var/tmp/headgate-workdirs-'));
const opened = new AsyncDisposableStack();
after(async () => {
  await opened.disposeAsync(); // first, because a daemon that runs writes there
  await rm(root, { recursive: true, force: true });
});
const userHome = path.join(root, 'ada');
const make = async (name: string) => {
  await mkdir(path.join(root, name), { recursive: true });
  return path.join(root, name);
};
const model = await startScriptedModel();
opened.defer(() => model.close());

async function open(name: string, config: object = {}): Promise<DaemonUnderTest> {
  const home = path.join(root, name);
  const server = { inbound: { burst: 100_000, perSecond: 1_000 } };
  const daemon = await startDaemon({
    home,
    config: { server, ...config },
    model: model.url,
    env: { HOME: await make('ada') },
  });
  return opened.use(daemon);
}

interface Caller {
  token: string;
  client: GatewayClient;
}

async function as(daemon: DaemonUnderTest, scope: 'write' | 'approve'): Promise<Caller> {
  const operator = await daemon.client();
  const { token } = await operator.call('token.create', { scope, name: `${scope} ${Math.random()}` });
  const client = createGatewayClient({ url: daemon.wsUrl, token, client: { name: 'e2e', version: '1', mode: 'test' } });
  await client.connect();
  opened.defer(() => client.close());
  return { token, client };
}

const CONVERSATION: ParamsInput<'workstream.import'>['conversation'] = {
  format: 'headgate-conversation',
  version: 1,
  messages: [{ role: 'user', createdMs: 0, content: 'hi' }],
};

/** Every way to name a folder for a workstream, and its result. */
const WAYS: Record<string, (daemon: DaemonUnderTest, caller: Caller, workdir: string) => Promise<string>> = {
  'workstream.create': async (_, { client }, workdir) => codeOf(client.call('workstream.create', { workdir })),
  'POST workstreams/new': (daemon, { token }, workdir) => statusOf(daemon, 'new', { token, body: { workdir } }),
  'POST workstreams/import': (daemon, { token }, workdir) =>
    statusOf(daemon, 'import', { token, body: { ...CONVERSATION, workdir } }),
  'resumeWs of a name that nobody has': async (_, { client }, workdir) =>
    codeOf(client.call('workstream.create', { workdir, resumeWs: 'nobody' })),
  'workstream.import': async (_, { client }, workdir) =>
    codeOf(client.call('workstream.import', { conversation: CONVERSATION, workdir })),
  'workstream.update readable': async (_, { client }, workdir) => {
    const { wsId } = await client.call('workstream.create', {});
    return codeOf(client.call('workstream.update', { wsId, readable: [workdir] }));
  },
};

async function statusOf(
  { url }: DaemonUnderTest,
  endpoint: string,
  { token, body }: { token: string; body: object },
): Promise<string> {
  const answer = await fetch(new URL(`/v1/api/workstreams/${endpoint}`, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  return answer.status === 200 ? 'ok' : String(answer.status);
}

const codeOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'ok',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  );

const SYSTEM = [
  '/',
  '/etc',
  '/etc/ssl',
  '/proc',
  '/proc/self',
  '/sys',
  '/dev',
  '/dev/shm',
  '/run',
  '/boot',
  '/usr',
  '/usr/bin',
];
const MORE = ['/usr/share', '/bin', '/sbin', '/lib', '/var', '/var/lib', '/var/lib/dpkg', '/var/log', '/root', '/home'];

test('the write scope cannot start work outside the allowed folders: 50 folders, every way to name one', async () => {
  const daemon = await open('one');
  const writer = await as(daemon, 'write');
  const allowed = await make('one/workspace/project');
  await symlink('/etc', path.join(allowed, 'etc'));
  await symlink(await make('elsewhere'), path.join(allowed, 'out'));
  await symlink(daemon.home, path.join(allowed, 'home'));
  const own = await Promise.all(Array.from({ length: 22 }, (_, i) => make(`ada/src/project-${i}`)));
  const folders = [
    ...[...SYSTEM, ...MORE, ...own, userHome, root, daemon.home, path.join(daemon.home, 'outputs'), 'relative', '~'],
    ...['etc', 'out', 'home', '../..', '../../../elsewhere', 'missing/../../../../elsewhere'].map(
      (name) => `${allowed}/${name}`,
    ),
    ...[path.join(root, 'does-not-exist'), `${allowed}-not`, '/tmp', '/var/tmp', '/srv', '/opt'],
  ];
  assert.ok(folders.length >= 50, `${folders.length} folders`);
  for (const [way, name] of Object.entries(WAYS)) {
    for (const folder of folders) assert.notEqual(await name(daemon, writer, folder), 'ok', `${way}: ${folder}`);
  }
  for (const [way, name] of Object.entries(WAYS))
    if (way !== 'workstream.update readable' && !way.startsWith('resumeWs'))
      assert.equal(await name(daemon, writer, allowed), 'ok', `${way}: an allowed folder`);
  const { workstreams } = await writer.client.call('workstream.list', {});
  const workdirs = await Promise.all(
    workstreams.map(async ({ wsId }) => (await writer.client.call('workstream.get', { wsId })).snapshot.workdir),
  );
  assert.deepEqual([...new Set(workdirs)].sort(), [path.join(daemon.home, 'workspace'), allowed]);
});

test('an approver may start work in another folder, which is remembered across a restart, but never in a system folder', async () => {
  const daemon = await open('two');
  const [writer, approver] = [await as(daemon, 'write'), await as(daemon, 'approve')];
  const [project, inside, sibling] = [await make('ada/two'), await make('ada/two/inside'), await make('ada/two-not')];
  assert.equal(await codeOf(writer.client.call('workstream.create', { workdir: project })), 'FORBIDDEN');
  assert.equal(await codeOf(approver.client.call('workstream.create', { workdir: project })), 'ok');
  for (const _ of ['before', 'after the restart']) {
    for (const folder of [project, inside])
      assert.equal(await codeOf(writer.client.call('workstream.create', { workdir: folder })), 'ok');
    assert.equal(await codeOf(writer.client.call('workstream.create', { workdir: sibling })), 'FORBIDDEN');
    await daemon.restart();
    writer.client.retryNow();
    approver.client.retryNow();
  }
  const system = [...SYSTEM, ...MORE, daemon.home, path.join(daemon.home, 'outputs'), userHome, root];
  for (const folder of system) {
    assert.notEqual(await codeOf(approver.client.call('workstream.create', { workdir: folder })), 'ok', folder);
  }
});

test('workdirs in config.json replaces the remembered folders, and its links are resolved once', async () => {
  const [allowed, named, secret] = [await make('ada/allowed'), await make('ada/named'), await make('ada/secret')];
  const link = path.join(userHome, 'link');
  await symlink(allowed, link);
  const daemon = await open('three', { workdirs: ['~/link'] });
  const [writer, approver] = [await as(daemon, 'write'), await as(daemon, 'approve')];
  assert.equal(await codeOf(approver.client.call('workstream.create', { workdir: named })), 'ok');
  assert.equal(await codeOf(writer.client.call('workstream.create', { workdir: named })), 'FORBIDDEN');
  for (const folder of [allowed, link])
    assert.equal(await codeOf(writer.client.call('workstream.create', { workdir: folder })), 'ok');
  assert.equal(await codeOf(writer.client.call('workstream.create', {})), 'ok');
  await rm(link);
  await symlink(secret, link);
  assert.equal(await codeOf(writer.client.call('workstream.create', { workdir: link })), 'FORBIDDEN');
});

test('reading needs no approval in the working directory and in folders added by an approver, and nowhere else', async () => {
  const [work, added, other] = [await make('ada/work'), await make('ada/added'), await make('ada/other')];
  for (const folder of [work, added, other]) await writeFile(path.join(folder, 'a.txt'), `text of ${folder}`);
  const daemon = await open('four', { workdirs: ['~/work', '~/added', '~/other'] });
  await using talk = await openConversation(daemon, { workdir: work });
  const asked = new Set<string>();
  const read = async (folder: string) => {
    const name = `read ${folder} ${Math.random()}`;
    model.when(name, callTools({ name: 'read_file', arguments: { path: path.join(folder, 'a.txt') } }), say('done'));
    const question = await talk.ask(name);
    const isNew = ({ approval_id: id }: { approval_id?: string | undefined }) => id !== undefined && !asked.has(id);
    const approvalId = await Promise.race([
      question.answer.then(() => undefined),
      talk.until('approve_request', isNew).then(({ approval_id: id }) => id),
    ]);
    if (approvalId === undefined) return 'read';
    asked.add(approvalId);
    await talk.decide(approvalId, { approved: false });
    await question.answer;
    return 'asked';
  };
  assert.deepEqual([await read(other), await read(added)], ['asked', 'asked']);
  assert.equal(
    await codeOf(talk.client.call('workstream.update', { wsId: talk.wsId, readable: ['/etc'] })),
    'INVALID_REQUEST',
  );
  await talk.client.call('workstream.update', { wsId: talk.wsId, readable: [added] });
  assert.equal(await read(added), 'read');
  await rm(added, { recursive: true });
  await symlink(other, added);
  assert.equal(await read(added), 'asked');
});

test('no other field of the protocol names a working directory', () => {
  const naming = /"(workdir|cwd|folder|folders|readable|directory)":/;
  const namesOne = (schema: z.ZodType) =>
    naming.test(JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })));
  const methods = Object.entries(CONTRACTS).flatMap(([name, { params }]) => (namesOne(params()) ? [name] : []));
  const endpoints: Endpoint[] = Object.values(ENDPOINTS).flatMap((group) => Object.values<Endpoint>(group));
  const routes = endpoints.flatMap(({ path: route, request }) => (namesOne(request()) ? [route] : []));
  // Rules hold in a folder, but nothing runs there because of them. Folders of tool servers are checked in the same way.
  const placed = ['mcp.create', 'mcp.update', 'rule.create', 'rule.simulate'];
  const servers = ['admin/mcp-servers', 'admin/mcp-servers/{server_id}'];
  const creating = ['cluster/workstreams/new', 'route/workstreams/new', 'workstreams/import', 'workstreams/new'];
  assert.deepEqual(methods.sort(), [
    ...placed,
    'workstream.create',
    'workstream.find',
    'workstream.import',
    'workstream.saved', // like find, it only finds those that are there already
    'workstream.update',
  ]);
  assert.deepEqual(
    new Set(routes),
    new Set(
      [...creating, ...servers, 'rules', 'rules/simulate', 'workstreams/find'].map((route) => `/v1/api/${route}`),
    ),
  );
});
