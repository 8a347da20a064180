import assert from 'node:assert/strict';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { queryPostgres } from '../../src/testing/postgres-server.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { type DaemonUnderTest, runHeadgate } from '../support/daemon/daemon.ts';
import { allowedMs, within } from '../support/deadline.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';
import {
  closeScene,
  gapBetween,
  lease,
  scene,
  socketOutcome,
  startOne,
  untilForwarding,
  untilServing,
  untilStandby,
} from './two-daemons.ts';

const installed = await needs('postgresql');

after(closeScene);

/** Resolves when the standby knows where the other daemon is. */
async function untilNamed(standby: DaemonUnderTest, active: DaemonUnderTest): Promise<void> {
  while ((await standby.get('/health')).body.active?.url !== active.url);
}

/** The lines about the lease that Prometheus gets from a daemon. */
async function leaseMetrics({ url }: { url: string }): Promise<string[]> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return text.split('\n').filter((line) => line.startsWith('service_lease_'));
}

test(
  'a standby says so, forwards everything else, and takes over a question when the active daemon is killed',
  installed,
  async () => {
    const { model, url } = await scene();
    await using active = await startOne();
    await untilServing(active); // the lease of an earlier test may have to end first
    await using standby = await startOne();
    // A daemon on a free port tells the others its address when it renews its lease.
    await within(untilNamed(standby, active), 60_000, () => 'the address of the active daemon');
    const waiting = await standby.get('/health');
    assert.equal(waiting.status, 503);
    const { node_id: activeId } = (await active.get('/health')).body;
    assert.deepEqual(
      [waiting.body.status, waiting.body.active.node_id, waiting.body.active.url],
      ['standby', activeId, active.url],
    );
    assert.match(standby.output().stdout, /a standby at http:\/\/127\.0\.0\.1:\d+\n\n {2}\S+ at http:\S+ is active/);
    await untilForwarding(standby);
    const listed = await standby.get('/v1/api/workstreams');
    assert.deepEqual([listed.status, listed.body], [200, (await active.get('/v1/api/workstreams')).body]);
    assert.equal(await socketOutcome(standby.wsUrl), 'open');
    const asked = await runHeadgate(['cluster', 'status', '--home', standby.home]);
    assert.match(asked.stdout, new RegExp(activeId));
    for (const command of [['drain'], ['restart']]) {
      const refused = await runHeadgate([...command, '--home', standby.home]);
      assert.match(refused.stderr, /is a standby\. Active is \S+ at http:\S+: run the command there\./);
    }
    assert.deepEqual(await leaseMetrics(standby), ['service_lease_held 0']);
    const names = (await leaseMetrics(active)).map((line) => line.replace(/ [\d.]+$/, ''));
    assert.deepEqual(
      new Set(names),
      new Set(['service_lease_age_seconds', 'service_lease_epoch', 'service_lease_held']),
    );
    const { port } = standby;

    await using talk = await openConversation(active);
    model.when(
      'count it',
      callTools({ name: 'bash', arguments: { command: 'echo one >> counted; cat counted' } }),
      say('done'),
    );
    const question = await talk.ask('count it');
    question.answer.catch(() => undefined); // the connection will be lost
    const { approval_id: approvalId } = await talk.until('approve_request');
    const { epoch } = await lease();
    await active.kill9();
    const tookMs = await untilServing(standby);
    const [row] = await queryPostgres(
      url,
      `select extract(epoch from since - (select max(seen_at) from headgate.machines where process <> owner)) * 1000 as ms from headgate.leases`,
    );
    assert.ok(
      Number(row?.ms) < allowedMs(5_000),
      `the lease changed hands after ${Number(row?.ms)} ms, and all took ${tookMs} ms`,
    );
    assert.equal((await lease()).epoch, epoch + 1);
    assert.equal(standby.port, port);
    const client = await standby.client();
    const pending = async () =>
      (await client.call('approval.list', { wsId: talk.wsId })).approvals.map((it) => it.approvalId);
    assert.deepEqual(await pending(), [approvalId]);
    const decide = () =>
      client.call('approval.resolve', { approvalId, approved: true }).then(
        () => 'decided',
        () => 'refused',
      );
    assert.deepEqual((await Promise.all([decide(), decide()])).sort(), ['decided', 'refused']);
    const said = async (): Promise<string[]> => {
      const { messages } = await client.call('workstream.history', { wsId: talk.wsId });
      const lines = messages.map(({ role, content }) => `${role}: ${(content ?? '').trim().split('\n').at(-1)}`);
      return lines.at(-1) === 'assistant: done' ? lines : said();
    };
    const lines = await within(said(), 60_000, () => 'the end of the run');
    assert.deepEqual(lines.slice(-2), ['tool: one', 'assistant: done']);
  },
);

test(
  'a daemon that was paused for longer than its lease writes nothing, says so, and ends with 1',
  installed,
  async () => {
    const { model, url } = await scene();
    await using active = await startOne();
    await untilServing(active);
    await using standby = await startOne();
    await using talk = await openConversation(active);
    model.when('never ends', [say('half'), stall()]);
    const question = await talk.ask('never ends');
    question.answer.catch(() => undefined); // the connection will be lost
    await talk.until('content');
    model.when('never ends', stall()); // asked again by the daemon that takes over
    active.signal('SIGSTOP');
    await untilServing(standby);
    const digest = async () =>
      (
        await queryPostgres(
          url,
          `select md5(string_agg(body_json, ' ' order by ws_id, "offset")) as d from headgate.events where ws_id = '${talk.wsId}'`,
        )
      )[0]?.d;
    const client = await standby.client();
    await client.call('workstream.cancel', { wsId: talk.wsId });
    const isIdle = async (): Promise<void> =>
      (await client.call('workstream.list', {})).workstreams.some(
        ({ wsId, state }) => wsId === talk.wsId && state === 'idle',
      )
        ? undefined
        : isIdle();
    await within(isIdle(), 60_000, () => 'the run has ended');
    const before = await digest();
    const { cursor } = await client.call('workstream.get', { wsId: talk.wsId });
    const askPaused = (route: string) =>
      active.fetch(route, { headers: { 'last-event-id': cursor } }).then(
        ({ status }) => status,
        () => 'ended',
      );
    const routes = [`/v1/api/events?ws_id=${talk.wsId}`, `/v1/api/workstreams/${talk.wsId}/history`];
    const asked = routes.map(askPaused);
    for (let calls = 0; calls < 20; calls += 1) await client.call('health', {}); // meanwhile the requests reach its sockets
    active.signal('SIGCONT');
    for (const answer of await within(Promise.all(asked), 60_000, () => 'answers of the daemon that was paused'))
      assert.ok([503, 'ended'].includes(answer), `what it knows is out of date, but it answered ${answer}`);
    const { code } = await within(active.exited(), 60_000, () => 'the end of the daemon that was paused');
    assert.equal(code, 1);
    assert.match(
      active.output().stderr,
      /Another daemon has taken over, because this one did not renew its lease in time/,
    );
    assert.equal(await digest(), before);
    assert.equal((await standby.get('/health')).status, 200);
  },
);

test('a daemon hands over while clients use it, becomes a standby, and logins go on', installed, async (t) => {
  const { model } = await scene();
  await using one = await startOne();
  await untilServing(one);
  await using other = await startOne();
  await using talk = await openConversation(one);
  model.when('half', [say('half'), stall()]);
  const question = await talk.ask('half');
  question.answer.catch(() => undefined); // the connection will be lost
  await talk.until('content');
  model.when('half', say('the whole answer'));

  const { body: login } = await one.post('/v1/api/auth/login', { token: one.token });
  const closed = Promise.withResolvers<number>();
  const socket = new WebSocket(one.wsUrl);
  socket.addEventListener('close', ({ code }) => closed.resolve(code));
  const gap = gapBetween(one, other);
  const drained = await runHeadgate(['drain', '--home', one.home]);
  assert.match(drained.stdout, /^Handed over\. \S+ at http:\S+ takes over\.\n$/);
  assert.equal(await within(closed.promise, 60_000, () => 'the end of the socket'), 1012);
  const gapMs = await within(gap, 60_000, () => 'the other daemon serves');
  t.diagnostic(`nobody served for ${Math.round(gapMs)} ms`);
  assert.ok(gapMs < allowedMs(5_000), `${gapMs} ms`);
  await untilStandby(one);
  const again = await fetch(new URL('/v1/api/auth/whoami', other.url), {
    headers: { authorization: `Bearer ${login.jwt}` },
  });
  assert.equal(again.status, 200, 'a login of the former daemon is one of this one');
  const client = await other.client();
  const said = async (): Promise<string> => {
    const { messages } = await client.call('workstream.history', { wsId: talk.wsId });
    const last = messages.at(-1)?.content?.trim() ?? '';
    return last === 'the whole answer' ? last : said();
  };
  await within(said(), 60_000, () => 'the run goes on');
  const status = await runHeadgate(['cluster', 'status', '--json', '--home', other.home]);
  const { machines } = JSON.parse(status.stdout);
  const states = machines.flatMap(({ state, isHere }: Record<string, unknown>) =>
    state === 'lost' ? [] : [[state, isHere]],
  );
  assert.deepEqual(states.sort(), [
    ['active', true],
    ['standby', false],
  ]);
  const audit = await client.call('audit.verify', {});
  assert.equal(audit.ok, true, JSON.stringify(audit));
  const back = await runHeadgate(['drain', '--home', other.home]);
  assert.equal(back.code, 0, back.stderr);
  await untilServing(one);
  await untilStandby(other);
  assert.equal((await other.stop()).code, 0, 'a standby that was active before ends in order');
});

test(
  'two daemons are never active at once while the database restarts, and a take-over that fails is tried again',
  installed,
  async () => {
    const { server, url } = await scene();
    await using active = await startOne();
    await untilServing(active);
    await using standby = await startOne();
    const { epoch } = await lease();
    await server.kill();
    await server.start();
    const isWhole = async (): Promise<void> => {
      const codes = await Promise.all(
        [active, standby].map((it) => it.get('/health').catch(() => ({ status: 0, body: {} }))),
      );
      const serving = codes.filter(({ status, body }) => status === 200 && body.store?.status === 'ok');
      assert.ok(serving.length <= 1);
      return serving.length === 1 && (await lease()).isHeld ? undefined : isWhole();
    };
    await within(isWhole(), 60_000, () => 'one daemon serves');
    assert.ok((await lease()).epoch <= epoch + 1);

    // A take-over that fails is tried again.
    const isFirst = (await active.get('/health')).status === 200;
    const [holder, waiting] = isFirst ? [active, standby] : [standby, active];
    await untilStandby(waiting);
    await queryPostgres(url, 'alter table headgate.meta rename to meta_away');
    await holder.kill9();
    const failed = async (): Promise<void> => {
      while (!/this standby could not take over; it tries again/.test(waiting.output().stderr))
        await waiting.get('/health');
    };
    await within(failed(), 60_000, () => `a take-over that fails; ${waiting.output().stderr}`);
    await queryPostgres(url, 'alter table headgate.meta_away rename to meta');
    await untilServing(waiting);
    assert.equal((await waiting.stop()).code, 0);
  },
);

test('a standby whose home has other keys is refused in words, and needs PostgreSQL', installed, async () => {
  const { url, folder } = await scene();
  await using active = await startOne();
  await untilServing(active);
  const env = { HEADGATE_STORE_URL: url, HEADGATE_STORE_STANDBY: '1' };
  const other = path.join(folder, 'other');
  const start = (home: string, more: Record<string, string>) =>
    runHeadgate(['start', '--port', '0', '--home', home], { HEADGATE_MODEL: 'demo', ...more });
  const noKey = await start(other, env);
  assert.match(noKey.stderr, /This home cannot read the secrets of the database: .* has no file headgate-key\. Copy/);
  await copyFile(path.join(active.home, 'headgate-key'), path.join(other, 'headgate-key'));
  const noToken = await start(other, env);
  assert.match(noToken.stderr, /taking over would end logins: .* has no file token\. Copy headgate-key and token/);
  const noStore = await start(path.join(folder, 'alone'), { HEADGATE_STORE_STANDBY: '1' });
  assert.match(noStore.stderr, /A standby needs a PostgreSQL store/);
  const notWaiting = await start(other, { HEADGATE_STORE_URL: url });
  assert.match(
    notWaiting.stderr,
    /Another Headgate daemon \(\S+ at http:\S+\) is using .* start this one with --standby/,
  );
  assert.deepEqual(
    [noKey, noToken, noStore, notWaiting].map(({ code }) => code),
    [1, 1, 2, 1],
  );
});
