import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job } from '../../cron/jobs/job.ts';
import { toHistory } from '../history/history.ts';
import { DAEMON } from '../sharing/perception.ts';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { asksAgent, executorFixture } from './executor-fixture.ts';

type CronFixture = Awaited<ReturnType<typeof executorFixture>>;

const NOBODY = 'Not run: no approver was available, and the job’s policy is deny.';
const sink = { ready: () => true, write: () => undefined };

/** The results of its calls, as the model read them. */
async function results(cron: CronFixture, job: Job): Promise<string[]> {
  const messages = await (await cron.session(job)).messages();
  return messages.flatMap((message) => (message.role === 'tool' ? [message.output] : []));
}

const questions = async ({ gateway }: CronFixture) => (await gateway.call('approval.list', {})).approvals;

async function asked(cron: CronFixture) {
  await turnsUntil(async () => (await questions(cron)).length === 1, 'a question');
  return (await questions(cron))[0] ?? assert.fail('no question');
}

test('calls of an unattended job are refused at once, and its history shows them as denied', async () => {
  await using cron = await executorFixture();
  const job = asksAgent('touch it');
  cron.gateway.puppet.turn(calling('touch'), calling('look'));
  cron.gateway.puppet.turn('I could not.');
  assert.deepEqual(await (await cron.run(job)).ended, { status: 'ok', summary: 'I could not.' });
  assert.deepEqual(await results(cron, job), [NOBODY, 'looked']);
  const { wsId } = (await cron.session(job)).workstream.data;
  const page = await cron.gateway.parts.messages.page(wsId, { after: 0, upTo: 9, limit: 9 });
  const denied = toHistory(page).flatMap((entry) => (entry.denied ? [entry.role] : []));
  assert.deepEqual(denied, ['assistant', 'tool']);
});

test('a subscribed approver is asked for five minutes; other subscribers are not', async () => {
  await using cron = await executorFixture();
  const job = asksAgent('touch it');
  await (await cron.run(job)).ended;
  const { data } = (await cron.session(job)).workstream;
  const { events } = cron.gateway.parts;
  const reader = events.follow(data.wsId, 0, { viewer: DAEMON, sink });
  cron.gateway.puppet.turn(calling('touch'));
  await (await cron.run(job)).ended;
  assert.deepEqual(await results(cron, job), [NOBODY]);
  reader.close();
  const watcher = events.follow(data.wsId, 0, { viewer: DAEMON, sink, mayDecide: true });
  cron.gateway.puppet.turn(calling('touch', {}, 'second'));
  const begun = await cron.run(job);
  assert.equal((await asked(cron)).expiresAtMs - cron.gateway.clock.now(), 300_000);
  await cron.gateway.clock.advance(300_000);
  assert.equal((await begun.ended).status, 'ok');
  assert.deepEqual((await results(cron, job))[1], 'Approval timed out after 300 s');
  watcher.close();
});

test('a job with the policy wait asks until its own deadline, also after a restart, while its timeout is paused', async () => {
  await using cron = await executorFixture();
  const job = asksAgent('touch it', { approval: { mode: 'wait', timeoutMs: 7_200_000 }, turn: { timeoutSeconds: 5 } });
  cron.gateway.puppet.turn(calling('touch'));
  const claim = await cron.claim(job);
  await cron.begin(job, claim);
  await asked(cron);
  await cron.gateway.clock.advance(3_600_000);
  const begun = await cron.afterCrash({ ...job, approval: { mode: 'deny' } }, claim);
  assert.equal((await questions(cron)).length, 1);
  await cron.gateway.clock.advance(7_200_000);
  assert.equal((await begun?.ended)?.status, 'ok');
  assert.deepEqual(await results(cron, job), ['Approval timed out after 2 hours']);
});

test('a job may allow tools by name', async () => {
  await using cron = await executorFixture();
  const job = asksAgent('touch it', { approval: { mode: 'allow', tools: ['touch'] } });
  cron.gateway.puppet.turn(calling('touch'));
  await (await cron.run(job)).ended;
  assert.deepEqual(await results(cron, job), ['touched']);
});
