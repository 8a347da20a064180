import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callersOf } from '../support/clients/callers.ts';
import { openStage } from '../support/daemon/stage.ts';

const { daemon } = await openStage();
const { operator, newUser } = callersOf(daemon);

const ada = await newUser('ada', ['builtin-operator']);
const admin = await newUser('root', ['builtin-admin']);

const SCHEDULES = '/v1/api/admin/schedules';
const WEEKLY = {
  ...{ name: 'report', description: 'for Monday', schedule_type: 'cron', cron_expr: '0 9 * * 1' },
  ...{ target_mode: 'auto', initial_message: 'Write the report' },
};
/** The fields of the record with their types, in their order. */
const RECORD = {
  ...{ task_id: 'string', name: 'string', description: 'string', schedule_type: 'string', cron_expr: 'string' },
  ...{ timezone: 'string', at_time: 'string', target_mode: 'string', model: 'string', initial_message: 'string' },
  ...{ auto_approve: 'boolean', auto_approve_tools: 'object', skill: 'string', enabled: 'boolean' },
  ...{ created_by: 'string', last_run: 'string', next_run: 'string', created: 'string', updated: 'string' },
};
const RUN = {
  ...{ run_id: 'string', task_id: 'string', node_id: 'string', ws_id: 'string', correlation_id: 'string' },
  ...{ started: 'string', status: 'string', outcome: 'string', error: 'string' },
};
const typesOf = (record: object) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, typeof value]));

test('A schedule must be created, read, listed, changed and deleted with the fields of its record', async () => {
  const made = await operator(`POST ${SCHEDULES}`, WEEKLY);
  assert.deepEqual([made.status, typesOf(made.body), made.body.timezone], [200, RECORD, 'UTC']);
  assert.match(made.body.next_run, /T09:00:00.000Z$/);
  const path = `${SCHEDULES}/${made.body.task_id}`;
  assert.deepEqual((await operator(`GET ${path}`)).body, made.body);
  const { body: list } = await operator(`GET ${SCHEDULES}`);
  assert.deepEqual(list, { schedules: [made.body] });
  const repeated = await operator(`PUT ${path}`, made.body);
  assert.deepEqual({ ...repeated.body, updated: '' }, { ...made.body, updated: '' });
  const at = { schedule_type: 'at', at_time: '2090-01-31T12:00:00+01:00', cron_expr: '', timezone: '' };
  const moved = (await operator(`PUT ${path}`, { ...at, auto_approve_tools: 'bash', enabled: false })).body;
  assert.deepEqual(
    [moved.at_time, moved.cron_expr, moved.auto_approve_tools, moved.next_run, moved.enabled, moved.description],
    ['2090-01-31T11:00:00.000Z', '', ['bash'], '', false, 'for Monday'],
  );
  assert.deepEqual(await operator(`DELETE ${path}`), { status: 200, body: { status: 'ok' } });
  assert.deepEqual((await operator(`GET ${SCHEDULES}`)).body, { schedules: [] });
});

test('A missing or wrong field of a schedule must answer 400 with its rule, and nothing must change', async () => {
  const refusals: [object, RegExp][] = [
    [{ name: '' }, /^name is required$/],
    [{ target_mode: undefined }, /^target_mode is required$/],
    [{ initial_message: ' ' }, /^initial_message is required$/],
    [{ schedule_type: undefined }, /^schedule_type is required$/],
    [{ schedule_type: 'daily' }, /^schedule_type must be 'cron' or 'at'$/],
    [{ cron_expr: '' }, /^cron_expr is required/],
    [{ cron_expr: '0 0 9 * * 1' }, /^Invalid cron expression: it must have five fields/],
    [{ cron_expr: '99 9 * * 1' }, /^Invalid cron expression: it /],
    [{ timezone: 'Mars/Base' }, /^timezone is not a known time zone/],
    [{ schedule_type: 'at', cron_expr: '' }, /^at_time is required/],
    [{ schedule_type: 'at', cron_expr: '', at_time: '2090-01-31T12:00:00' }, /^at_time must be .* with a timezone/],
    [{ schedule_type: 'at', cron_expr: '', at_time: '2020-01-31T12:00:00Z' }, /^at_time must be in the future$/],
    [{ target_mode: 'elsewhere' }, /^target_mode must be auto, pool, all or the id of a machine that has joined$/],
    [{ auto_approve_tools: ['magic'] }, /^auto_approve_tools: unknown tool "magic"/],
  ];
  for (const [change, rule] of refusals) {
    const { status, body } = await operator(`POST ${SCHEDULES}`, { ...WEEKLY, ...change });
    assert.equal(status, 400, JSON.stringify(change));
    assert.match(body.error, rule);
  }
  assert.deepEqual((await operator(`GET ${SCHEDULES}`)).body, { schedules: [] });
});

test('What a job cannot have must be refused, not ignored', async () => {
  for (const [field, value] of Object.entries({ model: 'fast', skill: 'poet', auto_approve: true })) {
    const { status, body } = await operator(`POST ${SCHEDULES}`, { ...WEEKLY, [field]: value });
    assert.deepEqual([status, body.error.startsWith(`${field} is not supported: `)], [400, true]);
  }
  const both = await operator(`POST ${SCHEDULES}`, { ...WEEKLY, at_time: '2090-01-31T12:00:00Z' });
  assert.deepEqual([both.status, both.body.error], [400, "at_time has no meaning for schedule_type 'cron'"]);
});

test('Schedules must answer 403 without the permission `admin.schedules`, and 404 `Schedule not found` for an unknown id', async () => {
  const missing = { status: 404, body: { error: 'Schedule not found' } };
  for (const call of ['GET', 'PUT', 'DELETE']) assert.deepEqual(await operator(`${call} ${SCHEDULES}/job_0`), missing);
  assert.deepEqual(await operator(`GET ${SCHEDULES}/job_0/runs`), missing);
  for (const call of [`GET ${SCHEDULES}`, `POST ${SCHEDULES}`, `DELETE ${SCHEDULES}/job_0`])
    assert.equal((await ada.call(call, call.startsWith('POST') ? WEEKLY : undefined)).status, 403);
  assert.equal((await admin.call(`GET ${SCHEDULES}`)).status, 200);
});

test('The runs of a schedule must be listed newest first, with the workstream of each', async () => {
  const { body: made } = await operator(`POST ${SCHEDULES}`, WEEKLY);
  const client = await daemon.client();
  for (let n = 0; n < 2; n += 1) await client.call('cron.run', { id: made.task_id, mode: 'force' });
  const { body } = await operator(`GET ${SCHEDULES}/${made.task_id}/runs?limit=900`);
  const [latest, first] = body.runs;
  assert.deepEqual([body.runs.length, typesOf(latest), latest.status, latest.outcome], [2, RUN, 'dispatched', 'error']);
  assert.notEqual(latest.error, ''); // the model of this stage has no answer
  assert.ok(latest.started > first.started && latest.run_id !== first.run_id);
  assert.equal((await operator(`GET /v1/api/workstreams/${latest.ws_id}`)).status, 200);
  assert.equal((await operator(`GET ${SCHEDULES}/${made.task_id}/runs?limit=1`)).body.runs[0].run_id, latest.run_id);
  assert.equal((await operator(`GET ${SCHEDULES}/${made.task_id}/runs?limit=x`)).status, 400);
  await operator(`DELETE ${SCHEDULES}/${made.task_id}`);
});

test('The 201st schedule must answer 409 `Maximum of 200 schedules reached`', async () => {
  const many = Array.from({ length: 201 }, () => operator(`POST ${SCHEDULES}`, { ...WEEKLY, enabled: false }));
  const refused = (await Promise.all(many)).filter(({ status }) => status !== 200);
  assert.deepEqual(refused, [{ status: 409, body: { error: 'Maximum of 200 schedules reached' } }]);
});
