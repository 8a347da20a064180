import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { questions } from '../permissions/command-talks.ts';
import { callersOf } from '../support/clients/callers.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { runAsAgent } from '../support/model/use-tool.ts';

const fetching = await needs('bubblewrap', 'curl');
const model = await startScriptedModel();
after(() => model.close());

const PAGE = '<!doctype html><title>Gates</title><h1>On gates</h1><p>See <a href="/b">b</a>.';
const FOUND = {
  query: 'gates',
  results: [{ url: 'https://a.example/', title: 'On gates', content: 'They open.', publishedDate: null }],
};
let onRequest = async (): Promise<unknown> => undefined;
const server = createServer(async (request, response) => {
  await onRequest();
  const isSearch = request.url?.startsWith('/search?') ?? false;
  response.end(isSearch ? JSON.stringify(FOUND) : request.url === '/page' ? PAGE : 'reached\n');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const { port } = server.address() as AddressInfo;
const search = { provider: 'searxng', url: `http://localhost:${port}` };
const config = { tools: { network: { allow: [`localhost:${port}`] }, search } };
const daemon = await startDaemon({ model: model.url, config });
after(() => daemon[Symbol.asyncDispose]());
const { operator } = callersOf(daemon);
const proxied = (target: string) => `curl -s --noproxy '' -m 5 http://${target}/`;

test(
  'a sandboxed command reaches hosts that the settings allow, by the proxy and directly on this machine, and the audit trail has them',
  fetching,
  async () => {
    const commands = [
      `curl -s -m 5 http://localhost:${port}/`,
      proxied(`localhost:${port}`),
      proxied('localhost:9'),
      proxied('example.invalid'),
    ];
    const host = 'x=unnamed.invalid; curl -s -m 5 http://$x/';
    const printed = await runAsAgent({ daemon, model }, [...commands, host, 'echo end'].join('\n'));
    assert.deepEqual(printed.split('\n').slice(0, 2), ['reached', 'reached']);
    assert.match(printed, /^end$/m);
    assert.match(printed, /\[no connection to unnamed\.invalid:80: .*run exactly the same command again\]/);
    assert.match(printed, /\[no connection to localhost:9: the address is private/);
    const { body } = await daemon.get('/v1/api/admin/audit?action=command.connect&limit=20');
    const seen = body.events.map(
      ({ resource_id: id, outcome }: { resource_id: string; outcome: string }) => `${id} ${outcome}`,
    );
    assert.deepEqual(
      new Set(seen),
      new Set([`localhost:${port} ok`, 'localhost:9 denied', 'example.invalid:80 failed', 'unnamed.invalid:80 denied']),
    );
  },
);

test('A page must be read only after its host was allowed, and the next one must ask again because of what was read', async () => {
  await using talk = await openConversation(daemon);
  const url = `http://localhost:${port}/page`;
  model.script(callTools({ name: 'web_fetch', arguments: { url }, id: 'call_1' }));
  model.script(callTools({ name: 'web_fetch', arguments: { url: `${url}?next` }, id: 'call_2' }));
  model.script(callTools({ name: 'web_fetch', arguments: { url: 'http://127.0.0.1:9/' }, id: 'call_3' }));
  model.script(say('done'));
  const asked = await talk.ask('read it');
  await talk.until('approve_request');
  const [first] = await talk.pending();
  const [item] = first?.items ?? [];
  assert.deepEqual(
    [item?.subject, item?.effects?.list, item?.rules?.map(({ kind, match }) => [kind, match])],
    [
      url,
      [{ kind: 'network', target: 'localhost', certain: true }],
      [
        ['host', { host: 'localhost' }],
        ['tool', { tool: 'web_fetch' }],
      ],
    ],
  );
  assert.ok(first);
  const rules = [{ id: 'host', term: 'conversation' as const }];
  await talk.client.call('approval.resolve', { approvalId: first.approvalId, approved: true, rules });
  for (const [count, ruling] of [
    [2, { reason: 'tainted', taint: { kind: 'network', target: 'localhost', call_id: 'call_1', tool: 'web_fetch' } }],
    [3, { reason: 'tool', taint: undefined }],
  ] as const) {
    await talk.until('approve_request', () => questions(talk) === count);
    const [next] = await talk.pending();
    assert.deepEqual(
      next?.items.map((one) => ({ reason: one.ruling?.reason, taint: one.ruling?.taint })),
      [ruling],
    );
    await talk.decide(next?.approvalId ?? '', { approved: true });
  }
  await talk.ended(asked);
  const results = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event] : []));
  assert.match(
    results[0]?.output ?? '',
    /Title: Gates\n\[page [\s\S]*# On gates\n\nSee \[b\]\(http:\/\/localhost:\d+\/b\)\./,
  );
  assert.equal(results[1]?.outcome, 'done');
  assert.deepEqual(results[2]?.refused_hosts, [{ host: '127.0.0.1', port: 9, reason: 'address' }]);
});

test('a search asks with its words and the host of the service, and its results count as untrusted', async () => {
  await using talk = await openConversation(daemon);
  model.script(callTools({ name: 'web_search', arguments: { query: 'gates' }, id: 'call_1' }));
  model.script(callTools({ name: 'web_search', arguments: { query: 'more gates' }, id: 'call_2' }));
  model.script(say('done'));
  const asked = await talk.ask('search it');
  await talk.until('approve_request');
  const [first] = await talk.pending();
  const [item] = first?.items ?? [];
  assert.deepEqual(
    [item?.subject, item?.effects?.list, item?.rules?.map(({ kind, match }) => [kind, match])],
    [
      'gates',
      [{ kind: 'network', target: 'localhost', certain: true }],
      [
        ['host', { host: 'localhost' }],
        ['tool', { tool: 'web_search' }],
      ],
    ],
  );
  const rules = [{ id: 'host', term: 'conversation' as const }];
  await talk.client.call('approval.resolve', { approvalId: first?.approvalId ?? '', approved: true, rules });
  await talk.until('approve_request', () => questions(talk) === 2);
  const [next] = await talk.pending();
  const taint = { kind: 'network', target: 'localhost', call_id: 'call_1', tool: 'web_search' };
  assert.deepEqual(
    next?.items.map(({ ruling }) => [ruling?.reason, ruling?.taint]),
    [['tainted', taint]],
  );
  await talk.decide(next?.approvalId ?? '', { approved: false });
  await talk.ended(asked);
  const results = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event] : []));
  assert.match(results[0]?.output ?? '', /\n1\. On gates\n {3}https:\/\/a\.example\/\n {3}They open\.\n/);
});

test(
  'A rule that denies a host must be asked at each connection, and stand above the settings; no rule may open a private address',
  fetching,
  async () => {
    const rule = (action: 'allow' | 'deny', host: string) =>
      operator('POST /v1/api/rules', { action, match: { host } });
    await rule('allow', '*.0.0.1');
    await rule('allow', '127.0.0.1');
    const hidden = await runAsAgent({ daemon, model }, `x=127.0.0.1:9; ${proxied('$x')}; echo end`);
    assert.match(
      hidden,
      /\[no connection to 127\.0\.0\.1:9: the address is private/,
      'a rule does not open this machine',
    );
    onRequest = () => rule('deny', '127.0.0.1');
    const twice = [`curl -s -m 5 http://localhost:${port}/`, `curl -s -m 5 http://localhost:${port}/`];
    const ruled = await runAsAgent({ daemon, model }, [...twice, proxied(`localhost:${port}`), 'echo end'].join('\n'));
    assert.deepEqual(ruled.split('\n'), [
      'reached',
      `Connections to localhost:${port} are not allowed by Headgate.`,
      'end',
      `[no connection to localhost:${port}: a permission rule denies it]`,
    ]);
  },
);
