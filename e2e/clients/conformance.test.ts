import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import type { Finding } from '../../src/conformance/run-cases.ts';
import { type DaemonUnderTest, runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { within } from '../support/deadline.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { stall } from '../support/model/scripted-steps.ts';

interface Report {
  counts: Record<Finding['outcome'], number>;
  findings: Finding[];
}

/** What `headgate conformance` prints as JSON, and its exit code. */
async function judge(url: string, token: string): Promise<Report & { code: number | null }> {
  const child = await spawnHeadgate({ args: ['conformance', url, '--token', token, '--json'], env: {} });
  const { code } = await within(child.exited, 100_000, () => `an end of conformance: ${child.stderr()}`);
  return { code, ...JSON.parse(child.stdout()) };
}

/** Checks that nothing is left: no session but `main`, which is unchanged, and no token, node or job. */
async function assertUntouched(client: GatewayClient): Promise<void> {
  const { sessions } = await client.call('sessions.list', {});
  const { nodes } = await client.call('node.list', {});
  assert.deepEqual(
    {
      sessions: sessions.map(({ key }) => key),
      saved: (await client.call('workstream.saved', {})).workstreams,
      said: (await client.call('chat.history', { sessionKey: 'main' })).messages,
      queued: (await client.call('status', {})).queuedSystemEvents,
      tokens: (await client.call('token.list', {})).tokens,
      jobs: (await client.call('cron.list', { includeDisabled: true })).jobs,
      nodes: nodes.filter(({ paired }) => paired),
      approvals: (await client.call('approval.list', {})).approvals,
    },
    { sessions: ['main'], saved: [], said: [], queued: [], tokens: [], jobs: [], nodes: [], approvals: [] },
  );
}

const withOutcome = (findings: readonly Finding[], outcome: Finding['outcome']) =>
  findings.filter((finding) => finding.outcome === outcome).map(({ must }) => must);

/** Changes a frame of the gateway before it is sent; false drops it. */
type Turn = (text: string) => string | false;

/** A proxy between clients and the daemon that changes frames. */
async function openLyingProxy(daemon: DaemonUnderTest, turn: Turn) {
  const http = createServer((_, response) => response.writeHead(404).end()); // it has no other interface
  const sockets = new WebSocketServer({ server: http });
  sockets.on('connection', (client) => {
    const upstream = new WebSocket(daemon.wsUrl);
    const early: string[] = [];
    client.on('message', (data) => {
      if (upstream.readyState === upstream.OPEN) upstream.send(data.toString());
      else early.push(data.toString());
    });
    upstream.on('open', () => {
      for (const text of early) upstream.send(text);
    });
    upstream.on('message', (data) => {
      const turned = turn(data.toString());
      if (turned !== false) client.send(turned);
    });
    client.on('close', () => upstream.close());
    upstream.on('close', () => client.close(1000));
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

// In parallel, because each waits half a minute for a tick.
suite('headgate conformance', { concurrency: true }, () => {
  test('the daemon passes every check, and the checks leave nothing behind', async () => {
    await using daemon = await startDaemon();
    const client = await daemon.client();
    const { code, counts, findings } = await judge(daemon.url, daemon.token);
    const others = findings.filter(({ outcome }) => outcome !== 'holds');
    assert.deepEqual(others, [], 'each failed or skipped case has its reason');
    assert.deepEqual({ code, counts }, { code: 0, counts: { holds: findings.length, fails: 0, 'does not apply': 0 } });
    await assertUntouched(client);
  });

  test('an interrupted check exits with 130 within seconds and leaves nothing behind', async () => {
    await using model = await startScriptedModel();
    model.onRequest(() => stall());
    await using daemon = await startDaemon({ model: model.url });
    const client = await daemon.client();
    const child = await spawnHeadgate({ args: ['conformance', daemon.url, '--token', daemon.token], env: {} });
    await model.request(0); // a case is running, and takes a minute
    child.kill('SIGINT');
    const { code } = await within(child.exited, 60_000, () => `an end of conformance: ${child.stderr()}`);
    assert.equal(code, 130);
    assert.match(child.stderr(), /^headgate: interrupted after \d+ of \d+ sentences\n$/);
    await assertUntouched(client);
  });

  test('an unreachable address or a refused token is reported in one line, and no check runs', async () => {
    await using daemon = await startDaemon();
    const strange = await runHeadgate(['conformance', daemon.url, '--token', 'svc_wrong']);
    assert.deepEqual([strange.code, strange.stdout], [1, '']);
    assert.match(strange.stderr, /^UNAUTHORIZED: ws:\S+ refused the token from --token: [^\n]+ token create [^\n]+\n$/);
    const none = await runHeadgate(['conformance', daemon.url]);
    assert.deepEqual([none.code, none.stdout], [1, '']);
    assert.match(
      none.stderr,
      /^UNAUTHORIZED: ws:\S+ requires a token: pass it with --token or HEADGATE_TOKEN\. [^\n]+\n$/,
    );
    await daemon.stop();
    const dead = await runHeadgate(['conformance', daemon.url, '--token', daemon.token]);
    assert.deepEqual(dead, { code: 3, stdout: '', stderr: `headgate: No daemon answers at ${daemon.wsUrl}/.\n` });
  });

  test('with a read token the checks that need more rights do not apply', async () => {
    await using daemon = await startDaemon();
    const client = await daemon.client();
    const { token } = await client.call('token.create', { name: 'reader', scope: 'read' });
    const { code, counts, findings } = await judge(daemon.url, token);
    assert.deepEqual(withOutcome(findings, 'fails'), []);
    assert.deepEqual([code, counts['does not apply'] > 10, counts.holds > 10], [0, true, true]);
  });

  test('wrong close codes, gaps in sequence numbers and renamed errors are detected', async () => {
    await using daemon = await startDaemon();
    await using proxy = await openLyingProxy(daemon, (text) =>
      text
        .replace(/"seq":(\d+)/, (_, seq) => `"seq":${Number(seq) * 2}`)
        .replace('"CONFLICT"', '"NOT_FOUND"')
        .replace('"recovered":true', '"recovered":false')
        .replace('"id":"invalid"', '"id":"other"')
        .replace('"created":false', '"created":true')
        .replace(',"ignored":true', '')
        .replace('"BUSY"', '"INTERNAL"')
        .replace('attachment cat.gif:', 'attachment:')
        .replace('"FORBIDDEN"', '"UNAUTHORIZED"')
        .replace('"thinkingLevel":"off"', '"thinkingLevel":"high"'),
    );
    const { code, findings } = await judge(proxy.url, daemon.token);
    const found = withOutcome(findings, 'fails');
    const expected = [
      'A first request other than `connect` must be refused and closed with 1008 `invalid handshake`',
      'A protocol range without 2 must be refused with the expected version and closed with 1002',
      'A frame that is not JSON must be answered INVALID_REQUEST under the id `invalid` and leave the connection open',
      'Broadcast events must carry `seq` without gaps, even if the connection may not see all events',
      'Revoking a token must end open sockets, streams and logins under it within a second',
      'The same key with other params must be answered CONFLICT',
      'A repeated pairing request must return the pending one, unless it names other commands',
      'An address must be limited to 4 unpaired nodes; the next one is answered BUSY and closed with 1013',
      'A node must not be able to answer for another node or to answer twice',
      'The `read` scope must allow viewing jobs but not changing them',
      'If an inline attachment is not a base64 image, the error must name it and nothing must be sent',
      'A refused `chat.send` must not create a session',
      'The events of one run must be numbered from 1 without gaps',
      'A subscription with a cursor inside the log must continue exactly after it, each later event once and in order',
    ];
    assert.deepEqual(
      expected.filter((must) => !found.includes(must)),
      [],
    );
    assert.equal(code, 1);
    await assertUntouched(await daemon.client());
    const harmless = 'An unknown method must be answered INVALID_REQUEST with its name';
    assert.equal(findings.find(({ must }) => must === harmless)?.outcome, 'holds');
  });
});
