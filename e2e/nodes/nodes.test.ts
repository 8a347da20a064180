import assert from 'node:assert/strict';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { startNode } from '../support/daemon/node-process.ts';
import { openStage } from '../support/daemon/stage.ts';
import { fileAppears } from '../support/file-appears.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const here = { HEADGATE_HOME: daemon.home };
await writeFile(path.join(daemon.home, 'config.json'), `{ nodes: { '*': { allow: ['system.*', 'file.*'] } } }`);
await daemon.restart();

const cli = (...args: string[]) => runHeadgate(['nodes', ...args], here);

async function paired(args: string[] = []) {
  const node = await startNode(daemon, args);
  const { code, stderr } = await cli('approve', await node.code());
  assert.deepEqual([code, stderr], [0, 'Approved.\n']);
  await node.child.printed(/^Connected\.$/m);
  return node;
}

async function invoke(nodeId: string, command: string, params: object = {}) {
  const client = await daemon.client();
  const key = `${command} ${JSON.stringify(params)} ${process.hrtime.bigint()}`;
  return client.call('node.invoke', { nodeId, command, params, idempotencyKey: key });
}

test('in the terminal a machine is paired by its code, offers the commands it was started with, and is removed', async () => {
  await using node = await startNode(daemon, ['--allow', 'printf *']);
  const code = await node.code();
  const pending = await cli('pending');
  const platform = `Platform  ${process.platform} ${process.arch}\n`;
  for (const part of [code, 'box', '127.0.0.1', platform, 'file.read, file.write, system.info, system.run'])
    assert.ok(pending.stdout.includes(part), part);
  assert.equal((await cli('approve', code.toLowerCase())).code, 0);
  await node.child.printed(/^Connected\.$/m);
  assert.match((await cli('list')).stdout, /^box +connected +\w+ \w+ +127\.0\.0\.1 +file\.read,.* +[0-9a-f]{32}$/m);
  assert.deepEqual(JSON.parse((await cli('describe', 'box')).stdout).caps, ['file', 'system']);
  assert.equal(JSON.parse((await cli('invoke', 'box', 'system.info')).stdout).platform, process.platform);
  const ran = await cli('invoke', 'box', 'system.run', '{"argv":["printf","%s|","a b","$HOME"]}');
  assert.deepEqual(JSON.parse(ran.stdout), {
    ...{ exitCode: 0, signal: null, stdout: 'a b|$HOME|', stderr: '', truncated: false, timedOut: false },
  });
  assert.equal(((await stat(path.join(node.home, 'node.json'))).mode & 0o777).toString(8), '600');
  assert.equal((await cli('revoke', 'box')).code, 0);
  const { code: exitCode } = await node.child.exited;
  assert.equal(exitCode, 1);
  assert.match(node.child.stderr(), /^headgate: The gateway no longer knows this node: .*--pair.*\n$/);
});

test('the list shows when a disconnected node was last connected', async () => {
  await using node = await paired();
  node.child.kill('SIGKILL');
  await node.child.exited;
  const row = new RegExp(`^box +last seen \\d+ s ago .* ${node.nodeId()}$`, 'm');
  assert.match((await cli('list')).stdout, row);
});

test('a rejected node reports this and exits', async () => {
  await using node = await startNode(daemon);
  assert.equal((await cli('reject', await node.code())).code, 0);
  const { code } = await node.child.exited;
  assert.deepEqual([code, node.child.stderr()], [1, 'headgate: The pairing request was rejected.\n']);
});

test('A node that connects from a web page must be refused as UNAUTHORIZED', async () => {
  const socket = await openClient(daemon.wsUrl, { origin: daemon.url });
  const client = { ...CONNECT.client, mode: 'node', instanceId: 'page' };
  const { error } = await socket.request('connect', { ...CONNECT, client });
  assert.deepEqual([error?.code, (await socket.closed).code], ['UNAUTHORIZED', 1008]);
});

test('a node has the rights of a node even with the operator’s token', async () => {
  const socket = await openClient(daemon.wsUrl, {});
  const client = { ...CONNECT.client, mode: 'node', instanceId: 'n1' };
  const { error } = await socket.request('connect', { ...CONNECT, client, auth: { token: daemon.token } });
  assert.equal(error?.code, 'UNAUTHORIZED');
});

test('only programs that match a pattern run, without a shell, and only in allowed folders', async () => {
  await using node = await paired(['--allow', 'echo *', 'ls']);
  const run = (params: object) => invoke(node.nodeId(), 'system.run', params);
  const { payload } = await run({ argv: ['echo', ';', 'touch', 'x', '&&', '`id`'] });
  assert.equal((payload as { stdout: string }).stdout, '; touch x && `id`\n');
  for (const argv of [['ls', '-l'], ['/bin/echo', 'x'], ['sh', '-c', 'id'], ['./echo'], ['env', 'echo']])
    await assert.rejects(run({ argv }), { code: 'FORBIDDEN' }, argv.join(' '));
  await assert.rejects(run({ argv: ['ls'], cwd: '/' }), { code: 'FORBIDDEN' });
  await assert.rejects(run({ argv: [] }), { code: 'INVALID_REQUEST' });
});

test('files are read and written only in allowed folders, and links cannot lead out of them', async () => {
  await using node = await paired();
  const call = (command: string, params: object) => invoke(node.nodeId(), command, params);
  const written = await call('file.write', { path: 'sub/a.txt', content: 'hällo' });
  const target = path.join(node.folder, 'sub/a.txt');
  assert.deepEqual(written.payload, { path: target, size: 6, created: true });
  assert.equal(await readFile(target, 'utf8'), 'hällo');
  const read = await call('file.read', { path: target });
  assert.deepEqual(read.payload, {
    path: target,
    size: 6,
    offset: 0,
    encoding: 'utf8',
    content: 'hällo',
    isWhole: true,
  });
  await writeFile(path.join(node.folder, 'raw'), Buffer.from([0xff, 0, 1]));
  assert.equal(((await call('file.read', { path: 'raw' })).payload as { encoding: string }).encoding, 'base64');
  await symlink('/etc', path.join(node.folder, 'etc'));
  await symlink(path.join(node.home, 'node.json'), path.join(node.folder, 'mine'));
  await mkdir(path.join(node.folder, 'dir'));
  for (const wrong of [
    'etc/hostname',
    'mine',
    '../x',
    '/etc/hostname',
    '/proc/self/environ',
    path.join(node.home, 'node.json'),
  ])
    for (const [command, more] of Object.entries({ 'file.read': {}, 'file.write': { content: 'x' } }))
      await assert.rejects(call(command, { path: wrong, ...more }), { code: 'FORBIDDEN' }, `${command} ${wrong}`);
  await assert.rejects(call('file.read', { path: 'none' }), { code: 'NOT_FOUND' });
  await assert.rejects(call('file.read', { path: 'dir' }), { code: 'UNAVAILABLE' });
});

test('a command runs once even if the gateway is killed, and a repeat gets its result', async () => {
  await using node = await paired(['--allow', 'sh *']);
  const script = 'echo ran >> runs; while [ ! -e go ]; do sleep 0.05; done; echo done';
  const asked = {
    ...{ nodeId: node.nodeId(), command: 'system.run', params: { argv: ['sh', '-c', script] } },
    ...{ idempotencyKey: `once ${node.nodeId()}`, timeoutMs: 60_000 },
  };
  const first = (await daemon.client()).call('node.invoke', asked).catch((error: Error) => error.name);
  await fileAppears(path.join(node.folder, 'runs'));
  await daemon.kill9();
  await daemon.restart();
  assert.notEqual(typeof (await first), 'object');
  const repeated = (await daemon.client()).call('node.invoke', asked, { timeoutMs: 60_000 });
  await writeFile(path.join(node.folder, 'go'), '');
  const { payload } = await repeated;
  assert.equal((payload as { stdout: string }).stdout, 'done\n');
  assert.equal(await readFile(path.join(node.folder, 'runs'), 'utf8'), 'ran\n');
});

test('a node killed during a command is reported as lost, reconnects after its restart, and does not repeat the command', async () => {
  await using node = await paired(['--allow', 'sh *']);
  const client = await daemon.client();
  const params = { argv: ['sh', '-c', 'echo ran >> runs; sleep 60'] };
  const asked = { nodeId: node.nodeId(), command: 'system.run', params, idempotencyKey: 'dies' };
  const answer = client.call('node.invoke', asked).catch((error: Error) => error.message);
  await fileAppears(path.join(node.folder, 'runs'));
  node.child.kill('SIGKILL');
  assert.match(String(await answer), /^the node disconnected while running system\.run\./);
  await node.restart('SIGKILL');
  await node.child.printed(/^Connected\.$/m);
  assert.equal((await invoke(node.nodeId(), 'system.info')).ok, true);
  assert.equal(await readFile(path.join(node.folder, 'runs'), 'utf8'), 'ran\n');
});

test('a program that reaches its timeout is ended with its children, and its output arrives in time', async () => {
  await using node = await paired(['--allow', 'sh *']);
  const client = await daemon.client();
  const params = { argv: ['sh', '-c', 'echo $$ > pid; echo begun; sleep 60 & wait'] };
  const asked = { nodeId: node.nodeId(), command: 'system.run', params, idempotencyKey: 'slow', timeoutMs: 3_000 };
  const { payload } = await client.call('node.invoke', asked);
  assert.deepEqual(payload, {
    ...{ exitCode: null, signal: 'SIGTERM', stdout: 'begun\n', stderr: '', truncated: false, timedOut: true },
  });
  const pid = (await readFile(path.join(node.folder, 'pid'), 'utf8')).trim();
  await assert.rejects(stat(`/proc/${pid}`));
});

test('changed commands need a new approval before they can be used', async () => {
  await using node = await paired(['--allow', 'ls']);
  await node.restart('SIGTERM', []);
  const code = await node.code();
  assert.match((await cli('pending')).stdout, /paired already; approving replaces its token and its commands/);
  assert.equal((await cli('approve', code)).code, 0);
  await node.child.printed(/Paired\.\nConnected\.\n$/);
  const { commands } = await (await daemon.client()).call('node.describe', { nodeId: node.nodeId() });
  assert.deepEqual(commands, ['file.read', 'file.write', 'system.info']);
});

test('if two hosts are started on one home, the newer one stays connected', async () => {
  await using node = await paired();
  const twin = await startNode(daemon, ['--home', node.home]);
  await twin.child.printed(/^Connected\.$/m);
  const { code } = await node.child.exited;
  assert.deepEqual(
    [code, node.child.stderr()],
    [1, 'headgate: Another process connected with the id of this node, so this one stops.\n'],
  );
  assert.equal((await invoke(node.nodeId(), 'system.info')).ok, true);
  await twin[Symbol.asyncDispose]();
});

test('the agent runs a command on a node after approval, and the shown command is the one that is sent', async () => {
  await using node = await paired(['--allow', 'printf *']);
  await using talk = await openConversation(daemon);
  const params = { argv: ['printf', 'from the node'] };
  const call = { action: 'invoke', node: node.nodeId(), command: 'system.run', params };
  model.when('over there', [callTools({ name: 'node', arguments: call })], [say('done')]);
  const { answer } = await talk.ask('over there');
  const { items, approval_id } = await talk.until('approve_request');
  assert.deepEqual(
    items.map(({ header, approval_label, preview }) => [header, approval_label, preview.includes('from the node')]),
    [['node: system.run on box', 'node system.run', true]],
  );
  await talk.decide(approval_id, { approved: true });
  await answer;
  const { output } = await talk.until('tool_result');
  assert.equal(JSON.parse(output).stdout, 'from the node');
  await talk.agree();
});

test('a retry sends its command to the node again, although the model gives the call the same id', async () => {
  await using node = await paired(['--allow', 'sh *']);
  await using talk = await openConversation(daemon);
  const params = { argv: ['sh', '-c', 'echo again >> ran; wc -l < ran'] };
  const call = { action: 'invoke', node: node.nodeId(), command: 'system.run', params };
  model.when('count', [callTools({ name: 'node', arguments: call, id: 'call_0' })], [say('done')]);
  const { answer } = await talk.ask('count');
  const first = await talk.until('approve_request');
  await talk.decide(first.approval_id, { approved: true });
  await answer;
  const { runId } = await talk.client.call('workstream.retry', { wsId: talk.wsId });
  const second = await talk.until('approve_request', ({ approval_id }) => approval_id !== first.approval_id);
  await talk.decide(second.approval_id, { approved: true });
  await talk.ended({ runId });
  const results = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event] : []));
  assert.deepEqual(
    results.map(({ call_id, output }) => [call_id, JSON.parse(output).stdout.trim()]),
    [
      ['call_0', '1'],
      ['call_0_2', '2'],
    ],
  );
});

test('cancelling a run ends its program on a node, with its children', async () => {
  await using node = await paired(['--allow', 'sh *']);
  await using talk = await openConversation(daemon);
  const params = { argv: ['sh', '-c', 'sleep 600 & echo $! > pid; wait'] };
  const call = { action: 'invoke', node: node.nodeId(), command: 'system.run', params, timeout_secs: 600 };
  model.when('for long', [callTools({ name: 'node', arguments: call })], [say('done')]);
  const question = await talk.ask('for long');
  question.answer.catch(() => undefined); // it is cancelled
  const { approval_id } = await talk.until('approve_request');
  await talk.decide(approval_id, { approved: true });
  const pidFile = path.join(node.folder, 'pid');
  await fileAppears(pidFile);
  await talk.client.call('workstream.cancel', { wsId: talk.wsId });
  await processEnds((await readFile(pidFile, 'utf8')).trim());
  assert.equal((await invoke(node.nodeId(), 'system.info')).ok, true, 'the node still runs commands');
});

async function processEnds(pid: string): Promise<void> {
  const isThere = await stat(`/proc/${pid}`).then(
    () => true,
    () => false, // it has ended
  );
  if (isThere) return processEnds(pid);
}

test('a node whose gateway is unreachable reports this and keeps trying', async () => {
  await using away = await startDaemon();
  await away.stop();
  await using node = await startNode(away);
  await node.child.printed(
    /^(Not connected \(no gateway answers at ws:\/\/127\.0\.0\.1:\d+\/\); retrying in \d s\.\n){2}/m,
  );
});

test('the setting that node and gateway suggest for config.json allows the programs', async () => {
  await using gateway = await startDaemon();
  await using node = await startNode(gateway, ['--allow', 'echo *']);
  const nodes = (...args: string[]) => runHeadgate(['nodes', ...args], { HEADGATE_HOME: gateway.home });
  assert.equal((await nodes('approve', await node.code())).code, 0);
  await node.child.printed(/^Connected\.$/m);
  const run = () => nodes('invoke', 'box', 'system.run', '{"argv":["echo","hello"]}');
  const allowance = `nodes: {"${node.nodeId()}": {allow: ["system.*", "file.*"]}}`;
  const refused = await run();
  assert.equal(refused.code, 1);
  for (const text of [refused.stderr, node.child.stdout()]) assert.ok(text.includes(allowance), text);
  assert.match(node.child.stdout(), /^If the gateway refuses system\.run, /m);
  await writeFile(path.join(gateway.home, 'config.json'), `{ ${allowance} }`);
  await gateway.restart();
  await node.child.printed(/Connected\.[\s\S]*Connected\./);
  const ran = await run();
  assert.deepEqual([ran.code, JSON.parse(ran.stdout).stdout], [0, 'hello\n']);
});
