import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../sharing/perception.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { asksAgent, executorFixture, tellsMain } from './executor-fixture.ts';

test('a job of the main session is complete when its text is queued, in one transaction with its start', async () => {
  await using cron = await executorFixture();
  const job = tellsMain('water the plants', { wakeMode: 'now' });
  const claim = await cron.claim(job);
  const begun = await cron.begin(job, claim);
  assert.deepEqual(await begun?.ended, { status: 'ok', summary: 'water the plants' });
  const { systemEvents } = cron.gateway.parts;
  assert.deepEqual([systemEvents.texts(), cron.woken], [['water the plants'], ['cron:job_1']]);
  const { status, attempts } = await cron.occurrence(claim);
  assert.deepEqual([status, attempts], ['started', 1]);
  assert.equal(await cron.begin(job, claim), undefined, 'begun already');
  assert.deepEqual(systemEvents.texts(), ['water the plants']);
});

test('a text that is already queued is not queued again, but its start is recorded', async () => {
  await using cron = await executorFixture();
  const job = tellsMain('water the plants');
  await cron.gateway.parts.systemEvents.add('water the plants', { rights: 'approve' });
  const claim = await cron.claim(job);
  await cron.begin(job, claim);
  assert.deepEqual(cron.gateway.parts.systemEvents.texts(), ['water the plants']);
  assert.equal((await cron.occurrence(claim)).status, 'started');
  assert.deepEqual(cron.woken, []);
});

test('a claim that another scheduler took leaves nothing in the main session', async () => {
  await using cron = await executorFixture();
  const job = tellsMain('water the plants', { wakeMode: 'now' });
  const claim = await cron.claim(job);
  assert.equal(await cron.begin(job, { ...claim, epoch: 0 }), undefined);
  assert.deepEqual([cron.gateway.parts.systemEvents.texts(), cron.woken], [[], []]);
});

test('after a crash a job of the main session is complete, and the session gets its turn', async () => {
  await using cron = await executorFixture();
  const job = tellsMain('water the plants', { wakeMode: 'now' });
  const claim = await cron.claim(job);
  await cron.begin(job, claim);
  const begun = await cron.afterCrash(job, claim);
  assert.deepEqual(await begun?.ended, { status: 'ok', summary: 'water the plants' });
  const { gateway } = cron;
  await gateway.reaches(await gateway.main(), 'user_turn');
  const runs = await gateway.store.db.selectFrom('runs').select(['principal', 'source']).execute();
  assert.deepEqual(runs, [{ principal: 'cron:job_1', source: 'agent' }]);
});

test('an agent job runs in its own session, named after it, and returns the answer as summary', async () => {
  await using cron = await executorFixture();
  const job = asksAgent('say hello', { turn: { thinking: 'high' } });
  cron.gateway.puppet.turn(`${'x'.repeat(2_500)}`);
  const claim = await cron.claim(job);
  const begun = await cron.begin(job, claim);
  const outcome = await begun?.ended;
  assert.deepEqual([outcome?.status, outcome?.summary?.length], ['ok', 2_000]);
  const { workstream, messages } = await cron.session(job);
  const { sessionKey, name, title } = workstream.data;
  assert.deepEqual([sessionKey, name, title], ['cron:job_1', 'Morning', 'Morning']);
  const byName = await cron.gateway.parts.workstreams.reopen('Morning', DAEMON);
  assert.equal(byName?.workstream.data.wsId, workstream.data.wsId);
  const content = '[cron:job_1 Morning] say hello';
  assert.deepEqual((await messages())[0], { role: 'user', content, trusted: true, unattended: true });
  assert.equal(cron.gateway.puppet.requests[0]?.effort, 'high');
  const runs = await cron.gateway.store.db.selectFrom('runs').select(['principal', 'source']).execute();
  assert.deepEqual(runs, [{ principal: 'cron:job_1', source: 'cron' }]);
  assert.equal((await cron.occurrence(claim)).runId?.startsWith('run_'), true);
});

test('the summary is the last text if the last turn has none', async () => {
  await using cron = await executorFixture();
  cron.gateway.puppet.turn('All is well.', calling('look'));
  cron.gateway.puppet.turn('');
  const begun = await cron.run(asksAgent('look'));
  assert.deepEqual(await begun.ended, { status: 'ok', summary: 'All is well.' });
});

test('a session keeps its name when closed, and starts with an empty context after an hour', async () => {
  await using cron = await executorFixture();
  const job = asksAgent('again');
  const read = () => cron.gateway.puppet.requests.at(-1)?.messages.filter(({ role }) => role === 'user').length;
  await (await cron.run(job)).ended;
  cron.gateway.clock.jump(3_600_000);
  await (await cron.run(job)).ended;
  assert.equal(read(), 2);
  const { workstream } = await cron.session(job);
  await cron.gateway.parts.workstreams.close(workstream.data.wsId, DAEMON);
  cron.gateway.clock.jump(3_600_001);
  await (await cron.run(job)).ended;
  assert.equal(read(), 1);
  const again = (await cron.session(job)).workstream.data;
  assert.deepEqual([again.wsId, again.name, again.settingsEvent().name], [workstream.data.wsId, 'Morning', 'Morning']);
});

test('an answer is delivered; if that is impossible, the model is not called, or the outcome says so', async () => {
  await using cron = await executorFixture();
  const { store } = cron.gateway;
  const sent = () => store.db.selectFrom('outbox').select(['provider', 'destination', 'message']).execute();
  const deliver = (turn: object) => cron.run(asksAgent('report', { turn: { deliver: true, ...turn } }));
  const noRecipient = 'deliver needs `to`: this session has neither received nor sent anything by a channel yet';
  const unknown = 'unsupported channel: pigeon (available: webhook)';
  assert.deepEqual(await (await deliver({})).ended, { status: 'error', error: noRecipient });
  assert.deepEqual(await (await deliver({ channel: 'pigeon', to: 'ops' })).ended, { status: 'error', error: unknown });
  assert.deepEqual(cron.gateway.puppet.requests, []);
  const inVain = await (await deliver({ bestEffortDeliver: true })).ended;
  assert.deepEqual(inVain, { status: 'skipped', summary: 'ok', error: `Nothing was delivered: ${noRecipient}` });
  cron.gateway.puppet.turn('the report');
  assert.deepEqual(await (await deliver({ channel: 'webhook', to: 'ops' })).ended, {
    status: 'ok',
    summary: 'the report',
  });
  assert.deepEqual(await sent(), [{ provider: 'webhook', destination: 'ops', message: 'the report' }]);
  assert.equal((await (await deliver({ channel: 'last' })).ended).status, 'ok', 'goes where the last one went');
});

test('failed runs are errors with their reason; a cancelled run is interrupted', async () => {
  await using cron = await executorFixture();
  cron.gateway.puppet.turn(new Error('no power'));
  const { status, error } = await (await cron.run(asksAgent('work'))).ended;
  assert.deepEqual([status, error], ['error', 'Internal error (see the daemon’s log)']);
  const job = asksAgent('work', { turn: { timeoutSeconds: 3 } });
  cron.gateway.puppet.turn(never());
  const slow = await cron.run(job);
  await cron.gateway.clock.advance(3_000);
  assert.deepEqual(await slow.ended, { status: 'error', error: 'The run took longer than 3 s' });
  cron.gateway.puppet.turn('Half', never());
  const cancelled = await cron.run(job);
  const { workstream } = await cron.session(job);
  await turnsUntil(() => workstream.current?.partialAnswer() !== undefined, 'a word');
  await workstream.cancel({ force: false });
  assert.deepEqual(await cancelled.ended, { status: 'interrupted', error: 'cancelled' });
});

test('a run stopped by its job is an error with that reason, keeps its text, and names no person', async () => {
  const started: string[] = [];
  await using cron = await executorFixture({
    execute(tool) {
      started.push(tool);
      return new Promise(() => undefined);
    },
  });
  const job = asksAgent('work');
  cron.gateway.puppet.turn('First', calling('look'));
  const begun = await cron.run(job);
  const { messages } = await cron.session(job);
  await turnsUntil(() => started.includes('look'), 'the tool');
  begun.stop('It took longer than 1 h');
  begun.stop('another reason');
  await new Promise(setImmediate);
  await cron.gateway.clock.advance(5_000); // the tool does not stop and is abandoned
  assert.deepEqual(await begun.ended, { status: 'error', error: 'It took longer than 1 h' });
  const [, said, result] = await messages();
  assert.equal(said?.role === 'assistant' && said.content, 'First');
  assert.equal(result?.role === 'tool' && result.output, 'Not run: the run had ended; its outcome is unknown');
});

test('a session with a full queue, and a store that cannot be written, are retryable', async () => {
  await using cron = await executorFixture();
  const job = asksAgent('work');
  const claim = await cron.claim(job);
  const to = await cron.gateway.parts.workstreams.obtainByKey('cron:job_1', DAEMON);
  cron.gateway.puppet.turn(never());
  for (let run = 0; run < 11; run++) await cron.gateway.accept('wait', { to });
  await assert.rejects(cron.begin(job, claim), { code: 'BUSY', retryable: true });
  await to.cancel({ force: false });
  cron.gateway.disk.fails = () => true;
  await assert.rejects(cron.begin(job, claim), { code: 'UNAVAILABLE', retryable: true });
  cron.gateway.disk.fails = undefined;
  assert.equal((await cron.occurrence(claim)).status, 'claimed');
  assert.deepEqual(await (await cron.begin(job, claim))?.ended, { status: 'ok', summary: 'ok' });
});

test('a lost claim starts no run, neither at once nor after another one', async () => {
  await using cron = await executorFixture();
  const job = asksAgent('work');
  const lost = { ...(await cron.claim(job)), epoch: 7 };
  assert.equal(await cron.begin(job, lost), undefined);
  const { workstream } = await cron.session(job);
  cron.gateway.puppet.turn(never());
  await cron.gateway.accept('wait', { to: workstream });
  assert.equal(await cron.begin(job, lost), undefined);
  await turnsUntil(() => cron.gateway.puppet.requests.length > 0, 'the question of the person');
  assert.equal(cron.gateway.puppet.requests.length, 1);
});

test('a run interrupted by a crash continues, and its outcome arrives once', async () => {
  await using cron = await executorFixture();
  const job = asksAgent('work', { turn: { deliver: true, bestEffortDeliver: true } });
  cron.gateway.puppet.turn('Half', never());
  const claim = await cron.claim(job);
  await cron.begin(job, claim);
  await turnsUntil(() => cron.gateway.puppet.requests.length === 1, 'the question');
  cron.gateway.puppet.turn('Whole');
  const begun = await cron.afterCrash(job, claim);
  const outcome = await begun?.ended;
  assert.deepEqual([outcome?.status, outcome?.summary], ['skipped', 'Whole']);
  const later = await cron.afterCrash(job, claim);
  assert.deepEqual(await later?.ended, outcome, 'a run that is over is found in the store');
  const { messages } = await cron.session(job);
  assert.deepEqual(
    (await messages()).map(({ role }) => role),
    ['user', 'assistant'],
  );
});

test('an attempt whose run is not found cannot be resumed', async () => {
  await using cron = await executorFixture();
  const job = asksAgent('work', { turn: { deliver: true } });
  const claim = await cron.claim(job);
  await cron.begin(job, claim);
  assert.equal(await cron.afterCrash(job, claim), undefined);
});
