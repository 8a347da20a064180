import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { callersOf } from '../support/clients/callers.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { startNode } from '../support/daemon/node-process.ts';
import { startSpanReceiver } from '../support/daemon/span-receiver.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const receiver = await startSpanReceiver();
after(() => receiver[Symbol.asyncDispose]());
/** Only the name of the variable says that they are secrets. */
const VARIABLES = Array.from({ length: 5 }, (_, n) => `correct horse battery ${'abcde'[n]} staple`);
const { model, daemon } = await openStage({
  config: { otel: { endpoint: receiver.url }, nodes: { '*': { allow: ['file.*'] } } },
  env: Object.fromEntries(VARIABLES.map((value, n) => [`CANARY_TOKEN_${n}`, value])),
});
const { operator } = callersOf(daemon);
const workdir = join(daemon.home, 'workspace');

const WAYS = ['whole', 'pieces', 'error', 'long', 'file', 'search', 'node', 'variable'] as const;
type Way = (typeof WAYS)[number];
/** Five secrets for each way. They are not in any request, so that whatever shows one took it from an output. */
const of = (way: Way): string[] =>
  way === 'variable'
    ? VARIABLES
    : Array.from({ length: 5 }, (_, n) => `ghp_C4n${WAYS.indexOf(way)}${n}aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0z`);
const CANARIES = WAYS.flatMap((way) => of(way).map((secret) => ({ way, secret })));

const command = (text: string) => ({ name: 'bash', arguments: { command: text } });
const read = (way: Way, then = '') => command(`while read -r s; do ${then || 'echo "key $s"'}; done < ${way}.txt`);

const textOf = (way: Way) => of(way).map((secret) => `${secret}${way === 'search' ? ' search marker' : ''}\n`);

/** Everything in the home, as one text per file. */
async function textsOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'latin1')] as const)));
}

/** All answers in which a part of a conversation may be. */
const ROUTES = [
  ...['workstreams', 'dashboard', 'approvals', 'memories', 'jobs', 'nodes', 'rules'],
  ...['admin/output-assessments', 'admin/verdicts', 'admin/policies', 'admin/audit', 'admin/settings', 'admin/users'],
  ...['admin/schedules', 'admin/usage', 'admin/tokens', 'admin/roles', 'admin/workstreams', 'admin/memories'],
];

async function answersAbout(wsId: string): Promise<[string, string][]> {
  const routes = [
    ...ROUTES.map((route) => `/v1/api/${route}`),
    ...['history', 'export', 'export?format=markdown'].map((route) => `/v1/api/workstreams/${wsId}/${route}`),
    '/metrics',
  ];
  const answers = routes.map(
    async (route): Promise<[string, string]> => [route, await (await daemon.fetch(route)).text()],
  );
  const client = await daemon.client();
  const lines = JSON.stringify(await client.call('logs.tail', { limit: 5_000, maxBytes: 1_000_000 }));
  return [...(await Promise.all(answers)), ['logs.tail', lines], ['traces', receiver.bodies.join('\n')]];
}

test('A secret in the output of a tool must not reach streams, the model, the database or files of the home', async () => {
  await using node = await startNode(daemon);
  await runHeadgate(['nodes', 'approve', await node.code()], { HEADGATE_HOME: daemon.home });
  await node.child.printed(/^Connected\.$/m);
  await using talk = await openConversation(daemon, { autoApprove: true });
  for (const way of WAYS)
    await writeFile(join(way === 'node' ? node.folder : workdir, `${way}.txt`), textOf(way).join(''));
  const onNode = {
    action: 'invoke',
    node: 'box',
    command: 'file.read',
    params: { path: join(node.folder, 'node.txt') },
  };
  model.when(
    'show them',
    callTools(
      read('whole'),
      read('pieces', 'fold -w 7 <<< "$s" | while read -r part; do printf %s "$part"; done; echo'),
      command('cat error.txt >&2; exit 3'),
      command('cat long.txt; for i in {1..4000}; do echo "line $i of many"; done; cat long.txt'),
      { name: 'read_file', arguments: { path: 'file.txt' } },
      { name: 'search', arguments: { query: 'search marker' } },
      { name: 'node', arguments: onNode },
      read('variable'),
    ),
    say('done'),
  );
  const asked = await talk.ask('show them');
  await talk.ended(asked);
  await receiver.find(({ name }) => name.startsWith('invoke_agent'));
  const stored = [...(await textsOf(daemon.home))].filter(([file]) => !file.startsWith(workdir));
  const { stdout, stderr } = daemon.output();
  const places: [string, string][] = [
    ['streams', JSON.stringify(talk.seen)],
    ['requests', JSON.stringify(model.requests)],
    ['output of the daemon', stdout + stderr],
    ...(await answersAbout(talk.wsId)),
    ...stored,
  ];
  assert.deepEqual(
    CANARIES.flatMap(({ way, secret }) =>
      places.flatMap(([where, text]) => (text.includes(secret) ? [`${way}: ${where}`] : [])),
    ),
    [],
  );
  const history = JSON.stringify((await operator(`GET /v1/api/workstreams/${talk.wsId}/history`)).body);
  for (const [name, tag] of [
    ['variables', /\[REDACTED:secret\]/],
    ['node', /\[REDACTED:api_key\]\\\\n\[REDACTED/],
  ] as const)
    assert.match(history, tag, `the ${name} were read`);
  const exported = await (await daemon.fetch(`/v1/api/workstreams/${talk.wsId}/export?format=markdown`)).text();
  assert.match(exported, /key \[REDACTED:api_key\]/);
  const chunks = talk.seen.flatMap(({ event }) => (event.type === 'tool_output_chunk' ? [event.chunk] : []));
  assert.match(chunks.join(''), /key \[REDACTED:api_key\]/);
  await Promise.all(['variable', 'long', 'whole'].map((way) => rm(join(workdir, `${way}.txt`))));
});

test('Findings of the output guard must be listed with their filters, the newest first', async () => {
  const { assessments, total } = (await operator('GET /v1/api/admin/output-assessments?risk_level=high')).body;
  assert.equal(total, WAYS.length);
  const [{ assessment_id, ws_id, call_id, created, output_length, func_name, ...found }] = assessments;
  assert.match(assessment_id, /^asm_/);
  assert.deepEqual(found, {
    ...{ flags: '["credential_leak"]', risk_level: 'high', annotations: '["A key, a token or a password."]' },
    redacted: 1,
  });
  assert.equal((await operator('GET /v1/api/admin/output-assessments?risk_level=low')).body.total, 0);
  assert.equal(
    (await operator(`GET /v1/api/admin/output-assessments?ws_id=${ws_id}&limit=2`)).body.assessments.length,
    2,
  );
});

test('the terminal lists findings of the output guard', async () => {
  const list = (...args: string[]) => runHeadgate(['assessments', ...args], { HEADGATE_HOME: daemon.home });
  const { stdout, stderr } = await list('--risk', 'high', '--limit', '2');
  assert.match(stdout, /^TIME +RISK +REDACTED +WORKSTREAM +TOOL +FOUND\n\S+Z +high +yes +\w+ +\w+ +credential_leak\n/);
  assert.equal(stderr, `${WAYS.length - 2} more; see --limit.\n`);
  const { assessments, total } = JSON.parse((await list('--json')).stdout);
  assert.deepEqual([assessments.length, total, assessments[0].redacted], [WAYS.length, WAYS.length, true]);
  assert.equal((await list('--risk', 'low')).stderr, 'No matching findings of the output guard.\n');
  const wrong = await list('--risk', 'critical');
  assert.deepEqual([wrong.code, /--risk must be one of low, medium, high/.test(wrong.stderr)], [2, true]);
});

test("the daemon's own secrets are redacted in every form, wherever an output has them", async () => {
  const own = {
    token: daemon.token,
    'headgate-key': (await readFile(join(daemon.home, 'headgate-key'), 'utf8')).trim(),
  };
  const forms = Object.values(own).flatMap((secret) => [
    secret,
    Buffer.from(secret).toString('base64'),
    Buffer.from(`x${secret}`).toString('base64url'),
    Buffer.from(secret).toString('hex'),
  ]);
  await writeFile(join(workdir, 'own.txt'), `${forms.join('\n')}\n`);
  await using talk = await openConversation(daemon, { autoApprove: true });
  const secretFiles = ['token', 'headgate-key', 'secrets.json'].map((name) => join(daemon.home, name)).join(' ');
  model.when('own', callTools(command('cat own.txt'), command(`cat ${secretFiles}`)), say('done'));
  await talk.ended(await talk.ask('own'));
  const seen = JSON.stringify([talk.seen, model.requests]);
  assert.deepEqual(
    forms.filter((form) => seen.includes(form)),
    [],
  );
  const printed = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event.output] : []));
  const isRedacted = (text: string) => /^(\[REDACTED:secret\]\n?)+$/.test(text);
  // In the sandbox, there are no files of the home.
  const isHidden = (text: string) => text.includes('No such file or directory');
  assert.deepEqual(
    [printed.some(isRedacted), printed.every((text) => isRedacted(text) || isHidden(text))],
    [true, true],
  );
});
