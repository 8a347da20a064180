import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { queryPostgres } from '../../src/testing/postgres-server.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { type DaemonUnderTest, runHeadgate } from '../support/daemon/daemon.ts';
import { installNextRelease, NEXT } from '../support/daemon/next-release.ts';
import { within } from '../support/deadline.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { closeScene, scene, startOne, untilForwarding, untilServing, untilStandby } from './two-daemons.ts';

const installed = await needs('postgresql');

after(closeScene);

const versionOf = async (daemon: DaemonUnderTest): Promise<string> => (await daemon.get('/health')).body.version;

const drifts = async (daemon: DaemonUnderTest): Promise<boolean> =>
  (await daemon.get('/v1/api/cluster/overview')).body.version_drift;

async function handOver(from: DaemonUnderTest, to: DaemonUnderTest): Promise<void> {
  const { code, stderr } = await runHeadgate(['drain', '--home', from.home]);
  assert.equal(code, 0, stderr);
  await untilServing(to);
  await untilStandby(from);
  await untilForwarding(from);
}

test(
  'a service goes to the next release, whose tables differ, and back while a question waits and clients go on',
  installed,
  async (t) => {
    const { model, url } = await scene();
    const schema = async () =>
      Number((await queryPostgres(url, 'select max(version) as n from headgate.schema_migrations'))[0]?.n);
    await using old = await startOne();
    await untilServing(old);
    await using next = await startOne({ entry: await installNextRelease(t) });
    await untilForwarding(next);
    const before = await versionOf(old);
    assert.notEqual(before, NEXT.version);
    assert.equal(await schema(), NEXT.schema - 1, 'a standby changes no tables');
    assert.deepEqual([await drifts(old), await drifts(next)], [true, true]);

    model.when(
      'count',
      callTools({ name: 'bash', arguments: { command: 'echo one >> counted; cat counted' } }),
      say('done'),
    );
    const talk = await openConversation(old);
    const question = await talk.ask('count');
    question.answer.catch(() => undefined); // the connection will be lost
    const { approval_id: approvalId } = await talk.until('approve_request');
    await using first = await old.sse(talk.wsId);
    const { id: last } = await first.until(({ id }) => id !== undefined);
    await talk[Symbol.asyncDispose]();

    await handOver(old, next);
    assert.deepEqual([await versionOf(next), await schema()], [NEXT.version, NEXT.schema]);
    await queryPostgres(url, "insert into headgate.next_things values ('thing', 3)");
    // The older one forwards to the newer one.
    await using stream = await old.sse(talk.wsId, { lastEventId: last });
    const client = await old.client();
    await client.call('approval.resolve', { approvalId, approved: true });
    await stream.until(({ data }) => data.type === 'tool_result' && data.output.trim() === 'one');
    await stream.until(({ data }) => data.type === 'ws_state' && data.state === 'idle');
    const ids = stream.frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
    const [epoch, from] = (last ?? '').split(':');
    const expected = ids.map((_, index) => `${epoch}:${Number(from) + index}`);
    assert.deepEqual(ids, expected, 'it goes on after its cursor');

    await handOver(next, old);
    assert.deepEqual([await versionOf(old), await schema()], [before, NEXT.schema]);
    const answered = await (await next.client()).call('workstream.history', { wsId: talk.wsId });
    assert.deepEqual(
      answered.messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant'],
    );
    model.when('again', say('still here'));
    await using later = await openConversation(next);
    await within((await later.ask('again')).answer, 60_000, () => 'an answer by the older one');

    await handOver(old, next);
    model.when('once more', say('here again'));
    await using third = await openConversation(old);
    await within((await third.ask('once more')).answer, 60_000, () => 'an answer by the newer one');
    assert.equal((await (await next.client()).call('audit.verify', {})).ok, true);
    const kept = await queryPostgres(url, 'select thing_id, size::int from headgate.next_things');
    assert.deepEqual(kept, [{ thing_id: 'thing', size: 3 }]);
    const weights = await queryPostgres(url, 'select distinct next_weight::int as weight from headgate.runs');
    assert.deepEqual(weights, [{ weight: 7 }]);
  },
);
